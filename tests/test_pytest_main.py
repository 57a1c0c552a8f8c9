"""Tests of tools/pytest_main.py."""

import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

MAIN = pathlib.Path(__file__).resolve().parent.parent / "tools" / "pytest_main.py"
FILES = {
  "test_a.py": "import sys\n\ndef test_it():\n  sys.left = 1",
  "test_b.py": "import sys\n\ndef test_it():\n  assert not hasattr(sys, 'left')",
  "test_c.py": "import os\n\ndef test_it():\n  os._exit(0)",
}


def run(folder, *words, **changes):
  """Exit code and (file, whether it is an error) of each test case."""
  for name, text in FILES.items():
    (folder / name).write_text(text)
  report = folder / "report.xml"
  environment = {
    **{key: value for key, value in os.environ.items() if not key.startswith("TEST")},
    **{"XML_OUTPUT_FILE": str(report), "TEST_TMPDIR": str(folder / "scratch"), **changes},
  }
  (folder / "scratch").mkdir()
  done = subprocess.run(
    [sys.executable, str(MAIN), *words], cwd=folder, env=environment, capture_output=True
  )
  cases = ElementTree.parse(report).iter("testcase")
  return done.returncode, [case.find("error") is not None for case in cases]


def test_files_apart_see_nothing_of_each_other_and_a_death_is_an_error(tmp_path):
  assert run(tmp_path, "--apart", *FILES) == (1, [False, False, True])


def test_files_are_dealt_to_shards(tmp_path):
  shard = {"TEST_TOTAL_SHARDS": "2", "TEST_SHARD_INDEX": "1"}
  status = tmp_path / "status"
  assert run(tmp_path, *FILES, **shard, TEST_SHARD_STATUS_FILE=str(status)) == (0, [False])
  assert status.exists()
