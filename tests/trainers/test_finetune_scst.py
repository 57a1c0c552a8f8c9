"""Tests of trainers/finetune_scst.py: the program as a user runs it."""

import json

import pytest

from tests.trainers import command_line
from tests.training import fine_tuned, small_runs

FINETUNE = "trainers.finetune_scst"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  folder = tmp_path_factory.mktemp("finetune")
  data = small_runs.data(folder)
  fine_tuned.captioner(folder / "start", data)
  fine_tuned.matcher(folder / "matcher", data)
  return folder


def run(place, folder, *flags):
  return command_line.run(
    FINETUNE, f"--data={place / 'data'}", f"--start={place / 'start'}", f"--run={folder}", *flags
  )


def test_flags_reach_the_run_and_the_last_line_is_json(place, tmp_path):
  done = run(
    place,
    tmp_path / "run",
    "--rewards=cider:1,matcher:0.5",
    f"--matcher={place / 'matcher'}",
    "--baseline=mean_of_others",
    "--samples=3",
    "--images=6",
    "--epochs=1",
    "--learning_rate=1e-4",
    "--set=nouns=tagger",
  )
  assert "cider" in command_line.figures(done)
  training = json.loads((tmp_path / "run" / "config.json").read_text())["training"]
  assert training["sampled_captions"]["baseline"] == "mean_of_others"
  assert (
    training["sampled_captions"]["samples"] == 3 and training["schedule"]["learning_rate"] == 1e-4
  )
  assert "(nouns by tagger)" in done.stdout


def test_a_reward_without_its_matcher_is_one_line(place, tmp_path):
  done = run(place, tmp_path / "run", "--rewards=cider:1,matcher:1")
  assert "name its run folder with --matcher=RUN" in command_line.error(done)
