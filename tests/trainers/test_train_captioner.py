"""Tests of trainers/train_captioner.py: the program as a user runs it."""

import json

from tests.data import make_records
from tests.trainers import command_line

TRAIN = "trainers.train_captioner"


def test_flags_override_the_recipe_and_seeds_are_summed_up(tmp_path):
  make_records.prepare_small(tmp_path / "data")
  done = command_line.run(
    TRAIN,
    f"--data={tmp_path / 'data'}",
    f"--run={tmp_path / 'run'}",
    "--recipe=distributed_k2_f30k",
    "--box_supervision=nll",
    "--epochs=2",
    "--images=6",
    "--seeds=2",
    "--set=options.hidden_size=8",
    "--set=options.region_size=8",
    "--set=min_count=1",
  )
  found = command_line.figures(done)
  assert found["seeds"] == [2] and {"cider", "cider_std"} <= found.keys()
  # Two steps an epoch: half of the epochs with one branch, as in the recipe, then both.
  steps = {
    folder: [json.loads(line)["step"] for line in (tmp_path / "run" / folder).open()]
    for folder in ("seed_2/metrics.jsonl", "seed_2/first_stage/metrics.jsonl")
  }
  assert max(steps["seed_2/first_stage/metrics.jsonl"]) == 2
  assert set(steps["seed_2/metrics.jsonl"]) == {4}
  config = json.loads((tmp_path / "run" / "seed_2" / "config.json").read_text())
  assert (config["model_config"]["hidden_size"], config["model_config"]["branches"]) == (8, 2)
  assert config["model_config"]["num_classes"] == len(make_records.NOUNS)
  training = config["training"]
  assert training["losses"]["box_supervision"] == "nll"
  assert training["losses"]["distill_weight"] == 0.0
  assert training["optimizer"]["slow_factor"] == 0.1  # The recipe's own.
  assert (training["seed"], training["images"]) == (2, 6)


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


WRONG = {
  "options.hidden_size=-3": "options.hidden_size is -3; expected 1 or more",
  "options.dropout=5": "options.dropout is 5.0; expected from 0 to 1",
  "schedule.learning_rate=-1": "schedule.learning_rate is -1.0; expected 0 or more",
  "images=0": "images is 0; expected 1 or more",
  "losses.distill_weight=-2": "losses.distill_weight is -2.0; expected 0 or more",
  "options.hidden=3": 'unknown option "hidden"',
}


def test_a_wrong_option_is_one_line_and_leaves_no_run_folder(tmp_path):
  given = (TRAIN, f"--data={tmp_path}", f"--run={tmp_path / 'run'}")
  commands = [(*given, f"--set={assignment}") for assignment in WRONG]
  for done, line in zip(command_line.run_many(commands), WRONG.values(), strict=True):
    assert line in command_line.error(done)
  assert not (tmp_path / "run").exists()


def test_set_help_lists_the_options_of_training_and_model():
  done = command_line.run(TRAIN, "--model=gvd", "--set=help")
  assert done.returncode == 0 and not done.stderr
  keys = [line.split()[0] for line in done.stdout.splitlines()]
  assert {"schedule.learning_rate", "losses.distill_weight", "options.interaction_layers"} <= {
    *keys
  }
  assert "options.vocabulary_size" not in keys  # It follows from the data.
