"""Every command refuses twenty bad inputs in one line: no traceback, nothing written.

A fifth of the inputs is tried; GCAP_ALL_INPUTS=1 tries all, which takes about a quarter of an hour.
"""

# bazel: data = ["//docs:files"]

import os
import pathlib
import re

import pytest

from gcap_tf import files
from tests.trainers import bad_inputs, command_line, test_bad_input
from tests.training import small_runs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRIDE = 1 if os.environ.get("GCAP_ALL_INPUTS") else 5
SECONDS = 120  # for one command, which must not start to work


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
  folder = tmp_path_factory.mktemp("inputs")
  data = small_runs.data(folder, train=3, val=2)
  run = test_bad_input.save_captioner(folder / "run", data)
  return bad_inputs.make(folder / "bad", data.folder, run)


def content(folder: pathlib.Path) -> dict[str, bytes]:
  return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_command_of_the_list_is_tried():
  text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
  table = "".join(line for line in text.splitlines() if line.startswith("| `"))
  listed = set(re.findall(r"`(?:trainers|export|serving)\.(\w+)`", table))
  assert listed == set(bad_inputs.COMMANDS)
  assert all(len(cases) >= 20 for cases in bad_inputs.COMMANDS.values())


@pytest.mark.parametrize("name", bad_inputs.COMMANDS)
def test_bad_inputs_end_in_one_line(name, paths, tmp_path):
  run, out = pathlib.Path(paths["run"]), tmp_path / "out"
  before, wrong = content(run), []
  limit = f"import signal; signal.alarm({SECONDS})"
  first = list(bad_inputs.COMMANDS).index(name) % STRIDE  # Another fifth for each command.
  for number, (module, *flags) in enumerate(bad_inputs.COMMANDS[name][first::STRIDE]):
    flags = [flag.format(**{**paths, "out": out}) for flag in flags]
    output = tmp_path / f"{number}.txt"
    code = command_line.starter().run([module, *flags], str(output), before=limit)
    text = output.read_text(errors="replace")
    lines = [line for line in text.splitlines() if line.startswith("error: ")]
    if code != 1 or len(lines) != 1 or "Traceback" in text or out.exists():
      wrong.append((code, " ".join(flags), text[-400:] + "and it wrote" * out.exists()))
      files.remove(out)
  assert not wrong, "\n".join(f"exit {code}: {flags}\n{text}\n" for code, flags, text in wrong)
  after = content(run)
  assert {path: after.get(path) for path in before} == before
