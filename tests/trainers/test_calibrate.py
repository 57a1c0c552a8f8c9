"""Tests of trainers/calibrate.py."""

from tests.trainers import command_line

CALIBRATE = "trainers.calibrate"


def test_the_package_is_not_written_to(tmp_path):
  done = command_line.run(CALIBRATE, "--run=shipped", f"--data={tmp_path}")
  assert "name a file with --out=FILE" in command_line.error(done)


def test_missing_data_is_one_line(tmp_path):
  done = command_line.run(
    CALIBRATE, "--run=shipped", f"--data={tmp_path}", f"--out={tmp_path / 'calibration.json'}"
  )
  assert "is not a prepared folder" in command_line.error(done)
