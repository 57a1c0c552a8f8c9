"""Tests of trainers/train_matcher.py: the program as a user runs it."""

import json

from tests.data import make_records
from tests.trainers import command_line

TRAIN = "trainers.train_matcher"


def test_flags_override_the_recipe_and_the_last_line_is_json(tmp_path):
  make_records.prepare_small(tmp_path / "data")
  done = command_line.run(
    TRAIN,
    f"--data={tmp_path / 'data'}",
    f"--run={tmp_path / 'run'}",
    "--recipe=scan_i2t_lse_f30k",
    "--ccr_weight=0.1",
    "--epochs=1",
    "--batch_size=16",
    "--learning_rate=0.01",
    "--set=options.joint_size=8",
    "--set=min_count=1",
  )
  assert command_line.figures(done)["rsum"] > 0
  config = json.loads((tmp_path / "run" / "config.json").read_text())
  assert config["model_config"]["direction"] == "i2t"
  assert config["model_config"]["lambda_lse"] == 5.0  # The recipe's own.
  assert config["model_config"]["joint_size"] == 8
  assert config["training"]["losses"]["ccr_weight"] == 0.1
  assert config["training"]["schedule"]["learning_rate"] == 0.01


def test_a_wrong_model_and_a_missing_folder_are_one_line(tmp_path):
  done = command_line.run(TRAIN, f"--data={tmp_path}", f"--run={tmp_path / 'run'}")
  assert "is not a prepared folder" in command_line.error(done)
  make_records.prepare_small(tmp_path / "data")
  flags = (f"--data={tmp_path / 'data'}", f"--run={tmp_path / 'run'}", "--model=scann")
  assert 'did you mean "scan"' in command_line.error(command_line.run(TRAIN, *flags))
