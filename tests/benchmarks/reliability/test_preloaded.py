"""Tests of benchmarks/reliability/preloaded.py."""

import json
import time

from benchmarks.reliability import preloaded


def test_programs_print_end_and_are_killed(tmp_path):
  output = tmp_path / "out"
  (tmp_path / "in.json").write_text('{"a": 1}')
  with preloaded.Starter(["json"]) as starter:
    assert starter.run(["json.tool", str(tmp_path / "in.json")], str(output)) == 0
    assert json.loads(output.read_text()) == {"a": 1}
    assert starter.run(["json.tool", str(tmp_path / "missing")], str(tmp_path / "err")) != 0
    child = starter.start(["json.tool"], before="import time; time.sleep(60)")
    assert child.running()
    child.kill()
    assert child.wait() == -9 and not child.running()


def test_the_environment_and_statements_before_are_those_of_one_child(tmp_path):
  before = "import os, pathlib; pathlib.Path(os.environ['OUT']).write_text('x'); os._exit(7)"
  with preloaded.Starter(["json"]) as starter:
    environment = {"OUT": str(tmp_path / "out")}
    began = time.monotonic()
    assert starter.run(["json.tool"], environment=environment, before=before) == 7
    assert (tmp_path / "out").read_text() == "x" and time.monotonic() < began + 30


def test_a_child_that_has_ended_says_what_it_used():
  before = "import time\nwhile time.process_time() < 0.2: pass"
  with preloaded.Starter(["json"]) as starter:
    child = starter.start(["json.tool", "/dev/null"], before=before)
    assert child.wait() != 0 and 0.2 <= child.seconds < 5.0
