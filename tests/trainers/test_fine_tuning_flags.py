"""Tests of trainers/fine_tuning_flags.py."""

import pytest

from tests.trainers import command_line


@pytest.mark.parametrize("command", ["trainers.finetune_scst", "trainers.finetune_contrastive"])
def test_recipes_of_the_command_are_listed(command, tmp_path):
  done = command_line.run(command, "--recipe=help")
  listed = [line.split()[0] for line in done.stdout.splitlines()]
  assert done.returncode == 0 and len(listed) >= 2
  own = "scst" if command.endswith("scst") else "contrastive"
  assert all(name.startswith(own) for name in listed)
  other = "contrastive_coco" if own == "scst" else "scst_f30k"
  given = (f"--data={tmp_path}", f"--run={tmp_path / 'run'}", f"--start={tmp_path}")
  wrong = command_line.run(command, f"--recipe={other}", *given)
  assert "is for another command; choose from" in command_line.error(wrong)


@pytest.mark.parametrize("command", ["trainers.finetune_scst", "trainers.finetune_contrastive"])
def test_a_missing_start_is_named(command, tmp_path):
  done = command_line.run(command, f"--data={tmp_path}", f"--run={tmp_path / 'run'}")
  assert done.returncode == 1 and "--start" in done.stderr.splitlines()[-1]
  assert not (tmp_path / "run").exists()
