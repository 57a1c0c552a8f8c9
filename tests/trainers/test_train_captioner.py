"""Tests of trainers/train_captioner.py: the program as a user runs it."""

import json

from tests.data import make_records
from tests.trainers import command_line

TRAIN = "trainers.train_captioner"


def test_flags_reach_the_run_and_the_last_line_is_json(tmp_path):
  make_records.prepare_small(tmp_path / "data")
  done = command_line.run(
    TRAIN,
    f"--data={tmp_path / 'data'}",
    f"--run={tmp_path / 'run'}",
    "--model=updown",
    "--box_supervision=nll",
    "--epochs=1",
    "--images=6",
    "--set=options.hidden_size=8",
    "--set=min_count=1",
  )
  assert "cider" in command_line.figures(done)
  config = json.loads((tmp_path / "run" / "config.json").read_text())
  assert config["model_config"]["hidden_size"] == 8
  assert config["training"]["losses"]["box_supervision"] == "nll"
  assert config["training"]["losses"]["distill_weight"] == 0.0


def test_a_teacher_that_is_not_there_is_one_line(tmp_path):
  make_records.prepare_small(tmp_path / "data")
  done = command_line.run(
    TRAIN,
    f"--data={tmp_path / 'data'}",
    f"--run={tmp_path / 'run'}",
    f"--teacher={tmp_path / 'none'}",
    "--set=min_count=1",
  )
  assert "is not a run folder" in command_line.error(done)
