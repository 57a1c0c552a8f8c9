"""Carries out "Add an attention regulariser" of CONTRIBUTING.md."""

# bazel: data = ["//:CONTRIBUTING.md"]

import json
import pathlib
import re
import runpy
import sys

import pytest

from gcap_tf import config as configs
from gcap_tf import errors, registry
from gcap_tf.training import regularizers
from gcap_tf.training.methods import captioning
from gcap_tf.training.regularizers import base
from tests.training import small_runs
from tests.training.regularizers import steps  # noqa: F401  (the printed test imports it)

DOCUMENT = pathlib.Path(__file__).parent.parent / "CONTRIBUTING.md"


def code_blocks() -> tuple[str, str]:
  """The regulariser and its test, as the document prints them."""
  text = DOCUMENT.read_text(encoding="utf-8")
  section = text.partition("## Add an attention regulariser\n")[2].partition("\n## ")[0]
  source, test = re.findall(r"```python\n(.*?)```", section, re.S)
  return source, test


@pytest.fixture
def entropy_file(tmp_path, monkeypatch):
  """Puts entropy.py into the folder of regularisers, as far as Python can see."""
  folder = tmp_path / "regularizers"
  folder.mkdir()
  (folder / "entropy.py").write_text(code_blocks()[0], encoding="utf-8")
  monkeypatch.setattr(regularizers, "__path__", [*regularizers.__path__, str(folder)])
  yield folder / "entropy.py"
  base.REGULARIZERS._entries.pop("entropy", None)
  sys.modules.pop("gcap_tf.training.regularizers.entropy", None)


def losses_of(run: pathlib.Path) -> set[str]:
  lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
  return {name for line in lines for name in json.loads(line)}


def test_one_file_adds_a_regulariser_that_trains(entropy_file, tmp_path):
  with pytest.raises(errors.UserError, match='unknown regulariser "entropy"'):
    base.REGULARIZERS.get("entropy")
  registry.import_modules("gcap_tf.training.regularizers")
  config = configs.override(
    small_runs.captioner_config(max_steps=2), ["losses.regularizers.entropy=0.1"]
  )
  captioning.train(small_runs.data(tmp_path), config, tmp_path / "run")
  assert "entropy" in losses_of(tmp_path / "run")


def test_the_printed_test_passes(entropy_file, tmp_path):
  registry.import_modules("gcap_tf.training.regularizers")
  path = tmp_path / "test_entropy.py"
  path.write_text(code_blocks()[1], encoding="utf-8")
  functions = runpy.run_path(str(path))
  tests = [function for name, function in functions.items() if name.startswith("test_")]
  assert tests
  for test in tests:
    test()
