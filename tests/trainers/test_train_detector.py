"""Tests of trainers/train_detector.py: the program as a user runs it."""

import json

from tests.trainers import command_line
from tests.vision import tiny_photographs

TRAIN = "trainers.train_detector"
_SMALL = [f"--set=model.{name}={value}" for name, value in tiny_photographs.OPTIONS.items()]


def _flags(folder):
  source, pictures = tiny_photographs.make(folder)
  return [f"--source={source}", f"--pictures={pictures}", f"--run={folder / 'run'}"]


def test_a_detector_is_trained_and_the_last_line_is_json(tmp_path):
  flags = [*_flags(tmp_path), *_SMALL, "--backbone_weights=none", "--epochs=1", "--batch_size=2"]
  done = command_line.run(TRAIN, *flags, "--fold=1/4")
  assert command_line.figures(done)["boxes"] == 4
  config = json.loads((tmp_path / "run" / "config.json").read_text())
  assert config["kind"] == "detector" and config["model_config"]["labels"] == 2
  assert (config["training"]["fold"], config["training"]["folds"]) == (1, 4)
  assert (tmp_path / "run" / "cache" / "train" / "index.json").exists()


def test_wrong_flags_are_one_line(tmp_path):
  flags = _flags(tmp_path)
  commands = [
    (TRAIN, *flags, "--fold=4/4"),
    (TRAIN, *flags, "--backbone=lite9"),
    (TRAIN, *flags, "--object_classes=/no/such/file"),
    (TRAIN, flags[0], f"--pictures={tmp_path / 'nothing'}", flags[2], "--backbone_weights=none"),
  ]
  messages = ("write K/N", "unknown backbone", "are missing", "do not exist")
  for done, expected in zip(command_line.run_many(commands), messages, strict=True):
    assert expected in command_line.error(done)
