"""Tests of gcap_tf/training/warm_up.py."""

import dataclasses
import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.training import captioner_training, captioning, checkpoints, runs, warm_up
from tests.training import small_runs

REGIONS = {"region_size": 6, "location_size": 4}


def config(model, **options):
  chosen = small_runs.captioner_config(model, epochs=3, warm_up_epochs=2)
  return dataclasses.replace(chosen, options={**chosen.options, **REGIONS, **options})


def steps_of(folder):
  return [json.loads(line)["step"] for line in (folder / "metrics.jsonl").open()]


def test_branches_grow_from_the_last_weights_and_the_count_goes_on(tmp_path):
  data = small_runs.data(tmp_path, train=6)
  chosen = config("distributed", branches=2)
  captioner_training.train(data, chosen, tmp_path / "run")
  # One step an epoch: two alone, then one with both branches.
  assert max(steps_of(tmp_path / "run" / "warm_up")) == 2
  assert set(steps_of(tmp_path / "run")) == {3}
  single = runs.load(tmp_path / "run" / "warm_up").model
  assert (single.config.branches, runs.load(tmp_path / "run").model.config.branches) == (1, 2)
  grown = runs.make_model(
    "captioner", "distributed", captioner_training.model_config(
      data, captioner_training.build_vocabulary(data, chosen), chosen
    ),
  )  # fmt: skip
  fresh = grown.region_attention.score_kernel.numpy()
  runs.save(tmp_path / "begun", "captioner", "distributed", grown, single_vocabulary(tmp_path))
  (tmp_path / "run" / "warm_up").rename(tmp_path / "begun" / "warm_up")
  warm_up.begin(tmp_path / "begun", grown, "last")
  last = checkpoints.StepCheckpoints(tmp_path / "begun" / "warm_up" / "checkpoints")
  last.restore_newest(model=single)
  first = single.region_attention.score_kernel.numpy()
  np.testing.assert_array_equal(grown.region_attention.score_kernel[:1], first)
  np.testing.assert_array_equal(grown.region_attention.score_kernel[1:], fresh[1:])


def single_vocabulary(folder):
  return runs.load(folder / "run").vocabulary


def test_the_cycle_begins_after_the_decoder_has_learned_alone(tmp_path):
  data = small_runs.data(tmp_path, train=6)
  losses = captioning.CaptioningConfig(cross_entropy_weight=0.5, reconstruction_weight=0.5)
  chosen = dataclasses.replace(config("cyclical"), losses=losses, warm_up_weights="best")
  captioner_training.train(data, chosen, tmp_path / "run")
  alone = json.loads((tmp_path / "run" / "warm_up" / "metrics.jsonl").open().readline())
  both = json.loads((tmp_path / "run" / "metrics.jsonl").open().readline())
  assert "reconstruction" not in alone and both["reconstruction"] > 0
  before = (tmp_path / "run" / "metrics.jsonl").read_text()
  captioner_training.train(data, chosen, tmp_path / "run")  # Complete: nothing is done again.
  assert (tmp_path / "run" / "metrics.jsonl").read_text() == before


def test_a_first_stage_that_makes_no_sense_is_refused():
  with pytest.raises(errors.UserError, match="not for neuraltalk2"):
    warm_up.stage(small_runs.captioner_config("neuraltalk2", warm_up_epochs=1, epochs=2))
  with pytest.raises(errors.UserError, match="must be below epochs, 2"):
    warm_up.stage(small_runs.captioner_config("gvd", warm_up_epochs=2, epochs=2))
