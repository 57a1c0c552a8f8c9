# bazel: data = ["//gcap_tf/runs:run_folders", "//gcap_tf/evaluation:region_captioning", "//gcap_tf/text:tagging", "//export:export_model", "//export:captioner_module", "//export:matcher_module", "//serving:server", "//serving:client"]  # noqa: E501

import json
import subprocess
import sys

import pytest

from gcap_tf import errors, optional

BLOCKED = ("spacy", "thinc", "pycocoevalcap", "h5py", "tensorflow_text", "tensorboard")
BLOCKED += ("apache_beam",)
# What captioning photographs and serving import.
NEEDED = ("gcap_tf.runs.run_folders", "gcap_tf.evaluation.region_captioning")
NEEDED += ("export.export_model", "export.captioner_module", "export.matcher_module")
NEEDED += ("serving.server", "serving.client")
PROGRAM = """
import importlib, json, sys

class Blocker:
  def find_spec(self, name, path=None, target=None):
    if name.partition(".")[0] in BLOCKED:
      raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED, needed = json.loads(sys.argv[1])
sys.meta_path.insert(0, Blocker())
for name in needed:
  importlib.import_module(name)
from gcap_tf import errors
from gcap_tf.text import tagging
try:
  tagging.load_tagger()
except errors.UserError as error:
  print(error)
"""


def test_an_installed_module_is_returned():
  assert optional.require("json.decoder", "train") is json.decoder


def test_a_missing_package_names_its_extra():
  with pytest.raises(errors.UserError) as caught:
    optional.require("no_such_package.part", "train")
  message = "no_such_package is not installed: pip install gcap_tf[train]"
  assert str(caught.value) == message


def test_what_an_installed_package_lacks_is_an_error_of_its_own(tmp_path, monkeypatch):
  (tmp_path / "half_installed.py").write_text("import no_such_package\n")
  monkeypatch.syspath_prepend(str(tmp_path))
  with pytest.raises(ModuleNotFoundError, match="no_such_package"):
    optional.require("half_installed", "train")


def test_captioning_and_serving_import_without_the_packages_of_training():
  done = subprocess.run(
    [sys.executable, "-c", PROGRAM, json.dumps([BLOCKED, NEEDED])],
    capture_output=True,
    text=True,
    check=False,
  )
  assert done.returncode == 0, done.stderr[-2000:]
  assert done.stdout.splitlines()[-1] == "spacy is not installed: pip install gcap_tf[train]"
