"""Tests of trainers/finetune_contrastive.py: the program as a user runs it."""

import json

import pytest

from tests.trainers import command_line
from tests.training import fine_tuned, small_runs

FINETUNE = "trainers.finetune_contrastive"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  folder = tmp_path_factory.mktemp("finetune")
  data = small_runs.data(folder)
  fine_tuned.captioner(folder / "start", data)
  fine_tuned.captioner(folder / "reference", data, "updown")
  return folder


def test_flags_reach_the_run_and_the_last_line_is_json(place, tmp_path):
  done = command_line.run(
    FINETUNE,
    f"--data={place / 'data'}",
    f"--start={place / 'start'}",
    f"--reference={place / 'reference'}",
    f"--run={tmp_path / 'run'}",
    "--negatives=2",
    "--images=6",
    "--epochs=1",
    "--learning_rate=1e-4",
    "--set=contrast.form=clipped",
  )
  assert "cider" in command_line.figures(done)
  config = json.loads((tmp_path / "run" / "config.json").read_text())
  assert config["model"] == "neuraltalk2" and config["method"] == "contrastive"
  assert config["training"]["contrast"]["negatives"] == 2
  assert config["training"]["contrast"]["form"] == "clipped"


def test_a_reference_that_is_not_there_is_one_line(place, tmp_path):
  done = command_line.run(
    FINETUNE,
    f"--data={place / 'data'}",
    f"--start={place / 'start'}",
    f"--reference={tmp_path / 'none'}",
    f"--run={tmp_path / 'run'}",
  )
  assert "is not a run folder" in command_line.error(done)
