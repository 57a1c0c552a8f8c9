"""Tests of trainers/reproduce_all.py: its runs are small programs that write a file."""

import json
import signal
import subprocess
import sys
import time

import pytest

from gcap_tf.recipes import experiments, plan
from tests.trainers import command_line
from trainers import reproduce_all

STEPS = [
  plan.Step("first", "a", 1, 1.0),
  plan.Step("first", "b", 1, 1.0, needs=("a",)),
  plan.Step("second", "c", 1, 30.0),
]


class Paper:
  """A reproduction whose runs are files; files in `elsewhere` are finished on another machine."""

  split = "val"

  def __init__(self, folder):
    self.folder, self.written = folder, 0
    rows = [experiments.Row(name=name, label=name, training=None) for name in "abc"]
    self.table = experiments.Table(paper="", split="val", columns=(), rows=tuple(rows))

  def trained(self, row, seed):
    path = self.folder / f"{row.name}_{seed}"
    return {"minutes": 2.0} if path.exists() else None

  def kept(self, row, seed):
    elsewhere = (self.folder / "elsewhere" / f"{row.name}_{seed}").exists()
    return self.trained(row, seed) or ({"minutes": 3.0} if elsewhere else None)

  def write(self, rows, seeds):
    self.written += 1


def work(tmp_path):
  papers = {"first": Paper(tmp_path), "second": Paper(tmp_path)}
  return reproduce_all.Work(tmp_path / "out", papers, STEPS, (1,))


def writes(tmp_path):
  def command(step):
    path = str(tmp_path / f"{step.row}_{step.seed}")
    return [sys.executable, "-c", f"open({path!r}, 'w'); print('trained', {step.row!r})"]

  return command


def state(tmp_path):
  return json.loads((tmp_path / "out" / "state.json").read_text())


def test_what_is_left_is_trained_in_order_and_what_is_done_is_not(tmp_path):
  (tmp_path / "a_1").touch()
  assert work(tmp_path).go(writes(tmp_path)) == 0
  log = (tmp_path / "out" / "log.txt").read_text()
  assert "trained a" not in log and log.index("trained b") < log.index("trained c")
  found = state(tmp_path)
  assert (found["done"], found["left"]) == (3, 0)
  assert found["runs"][1] == {
    "run": "first/b/seed_1", "state": "done", "expected_minutes": 1.0, "minutes": 2.0, "error": "",
  }  # fmt: skip
  assert "3 runs done, 0 left" in log


def test_a_run_that_fails_stops_those_that_need_it_alone(tmp_path, capsys):
  def command(step):
    if step.row == "a":
      return [sys.executable, "-c", "print('error: it broke'); raise SystemExit(1)"]
    return writes(tmp_path)(step)

  assert work(tmp_path).go(command) == 1
  assert [run["state"] for run in state(tmp_path)["runs"]] == ["failed", "waiting", "done"]
  assert "failed: first/a/seed_1: exit code 1: error: it broke" in capsys.readouterr().err
  assert work(tmp_path).go(writes(tmp_path)) == 0  # The next call tries it again.


def test_what_is_finished_elsewhere_is_done_unless_a_run_here_needs_it(tmp_path):
  (tmp_path / "elsewhere").mkdir()
  for name in ("a_1", "c_1"):
    (tmp_path / "elsewhere" / name).touch()
  assert [found for _, found in work(tmp_path).states()] == ["left", "left", "done"]
  assert work(tmp_path).go(writes(tmp_path)) == 0
  log = (tmp_path / "out" / "log.txt").read_text()
  assert log.index("trained a") < log.index("trained b") and "trained c" not in log
  assert [run["minutes"] for run in state(tmp_path)["runs"]] == [2.0, 2.0, 3.0]


def test_nothing_is_trained_for_rows_that_are_finished_elsewhere(tmp_path):
  (tmp_path / "elsewhere").mkdir()
  for name in ("a_1", "b_1", "c_1"):
    (tmp_path / "elsewhere" / name).touch()
  assert [found for _, found in work(tmp_path).states()] == ["done"] * 3


def test_no_run_is_started_that_would_end_too_late(tmp_path, capsys):
  assert work(tmp_path).go(writes(tmp_path), hours=0.1) == 0
  assert [run["state"] for run in state(tmp_path)["runs"]] == ["done", "done", "left"]
  assert "2 runs done, 1 left, about 0.5 hours" in capsys.readouterr().out
  lines = reproduce_all.listing(work(tmp_path).states()).splitlines()
  assert lines[2].split() == ["second", "c", "30.0", "min", "a", "run", "seed", "1", "left"]
  assert "second         0.5 hours left" in lines


def test_a_stopped_program_ends_its_run_says_what_is_left_and_goes_on(tmp_path):
  script = f"""
import pathlib, sys
from tests.trainers import test_reproduce_all as tests
folder = pathlib.Path({str(tmp_path)!r})
text = "print('asleep', flush=True); import time; time.sleep(600)"
sleep = lambda step: [sys.executable, "-c", text]
sys.exit(tests.work(folder).go(sleep))
"""
  process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
  log = tmp_path / "out" / "log.txt"
  while not log.exists() or "asleep" not in log.read_text():
    assert process.poll() is None
    time.sleep(0.1)
  assert state(tmp_path)["running"] == 1
  process.send_signal(signal.SIGTERM)
  said = process.communicate(timeout=120)[0]
  assert process.returncode == 130 and "stopped: 0 runs done, 3 left" in said
  assert state(tmp_path)["left"] == 3
  assert work(tmp_path).go(writes(tmp_path)) == 0


def test_the_plan_is_listed_without_data():
  done = command_line.run("trainers.reproduce", "--paper=all", "--scale=photographs", "--list")
  assert done.returncode == 0 and "hours left" in done.stdout
  for paper in ("pos_scan", "distributed", "cyclical", "ccr_ccs", "contrastive"):
    assert any(line.startswith(paper) for line in done.stdout.splitlines())


@pytest.mark.parametrize("flag", ["--rows=scan", "--search=scan_both"])
def test_rows_of_one_paper_are_refused(flag):
  done = command_line.run("trainers.reproduce", "--paper=all", flag, "--list")
  assert "--paper=all takes --rows=claims or --rows=all" in command_line.error(done)
