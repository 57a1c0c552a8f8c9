"""Tests of trainers/evaluate_detector.py: the program as a user runs it."""

from tests.trainers import command_line
from tests.vision import tiny_photographs

EVALUATE = "trainers.evaluate_detector"


def test_the_shipped_detector_is_judged_and_the_last_line_is_json(tmp_path):
  source, pictures = tiny_photographs.make(tmp_path)
  flags = (f"--source={source}", f"--pictures={pictures}")
  commands = [
    (EVALUATE, "--run=shipped", *flags, "--max_pictures=1", f"--draw={tmp_path / 'drawn'}"),
    (EVALUATE, f"--run={tmp_path}", *flags),
    (EVALUATE, "--run=shipped", *flags, "--split=test"),
  ]
  done = command_line.run_many(commands)
  assert {"recall_36", "recall_100", "ap50"} <= set(command_line.figures(done[0]))
  assert (tmp_path / "drawn" / "index.html").exists()
  assert "no config.json" in command_line.error(done[1])
  assert "no split 'test'" in command_line.error(done[2])
