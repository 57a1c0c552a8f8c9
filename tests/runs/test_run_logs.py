"""Tests of gcap_tf/runs/run_logs.py."""

import json
import math

from gcap_tf.runs import run_logs


def test_lines_after_a_step_and_a_half_written_one_are_dropped(tmp_path):
  log = run_logs.MetricsLog(tmp_path / "metrics.jsonl")
  for step in (1, 2, 3):
    log.append({"step": step, "loss": 1.0 / step})
  with log.path.open("a") as file:
    file.write('{"step": 2, "lo')
  log.truncate_after(2)
  assert [json.loads(line)["step"] for line in log.path.open()] == [1, 2]


def test_values_of_a_key_are_read_back_up_to_a_step(tmp_path):
  log = run_logs.MetricsLog(tmp_path / "metrics.jsonl")
  assert log.values("val_cider", 9) == []
  for step, value in ((1, 2.5), (2, math.nan), (3, 4.0), (4, 5.0)):
    log.append({"step": step, "val_cider": value})
    log.append({"step": step, "loss": 1.0})
  assert log.values("val_cider", 3) == [2.5, 4.0]


def test_what_is_not_finite_stays_valid_json(tmp_path):
  log = run_logs.MetricsLog(tmp_path / "metrics.jsonl")
  log.append({"step": 1, "loss": math.nan, "norm": math.inf})
  assert json.loads(log.path.read_text()) == {"step": 1, "loss": None, "norm": None}


def test_a_worker_that_does_not_write_writes_nothing(tmp_path):
  run_logs.MetricsLog(tmp_path / "metrics.jsonl", writes=False).append({"step": 1})
  speed = run_logs.SpeedLog(tmp_path / "speed.jsonl", writes=False)
  speed.append(1, 0.0, 1.0)
  speed.append(2, 0.0, 1.0)
  assert not list(tmp_path.iterdir())


def test_speed_is_that_since_the_line_before(tmp_path, monkeypatch):
  clock = iter([100.0, 104.0])
  monkeypatch.setattr(run_logs.time, "monotonic", lambda: next(clock))
  speed = run_logs.SpeedLog(tmp_path / "speed.jsonl")
  speed.append(20, 1.0, 0.5)
  speed.append(40, 2.0, 0.6)
  expected = {"step": 40, "steps_per_second": 5.0, "data_wait": 0.25, "memory_gib": 0.6}
  assert json.loads((tmp_path / "speed.jsonl").read_text()) == expected
