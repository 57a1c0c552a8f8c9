"""Tests of trainers/fine_tuning_flags.py."""

import pytest

from tests.trainers import command_line


@pytest.mark.parametrize("command", ["trainers.finetune_scst", "trainers.finetune_contrastive"])
def test_a_missing_start_is_named(command, tmp_path):
  done = command_line.run(command, f"--data={tmp_path}", f"--run={tmp_path / 'run'}")
  assert done.returncode == 1 and "--start" in done.stderr.splitlines()[-1]
  assert not (tmp_path / "run").exists()
