"""Tests of gcap_tf/training/first_stage.py."""

import dataclasses

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.runs import checkpoints, run_folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import first_stage, loop, loss_options
from tests.training import small_runs

SIZES = {**small_runs.CAPTIONER_SIZES, "region_size": 6, "location_size": 4, "feature_size": 8}


def make(vocabulary, **options):
  sizes = {"vocabulary_size": vocabulary.size, **SIZES, **options}
  return run_folders.make_model("captioner", "distributed", sizes)


def test_the_first_stage_has_one_branch_and_no_cycle():
  losses = loss_options.CaptioningLosses(reconstruction_weight=0.5, consistency_weight=0.1)
  config = small_runs.captioner_config("cyclical", epochs=80, first_stage_epochs=35, losses=losses)
  first = first_stage.stage(config)
  assert (first.epochs, first.first_stage_epochs) == (35, 0)
  assert first.losses == dataclasses.replace(
    losses, reconstruction_weight=0.0, consistency_weight=0.0
  )
  assert first.options == {**config.options, "branches": 1, "localizer": "none"}


def test_the_first_stage_may_be_counted_in_steps():
  config = small_runs.captioner_config("cyclical", epochs=80, max_steps=700, first_stage_steps=420)
  first = first_stage.stage(config)
  assert (first.epochs, first.max_steps, first_stage.is_wanted(first)) == (80, 420, False)


@pytest.mark.parametrize("weights", ["last", "best"])
def test_a_run_begins_with_the_weights_of_its_first_stage(tmp_path, weights):
  vocabulary = vocabularies.Vocabulary.build([["a", "cat"]], "captioner", 1)
  single, grown = make(vocabulary, branches=1), make(vocabulary, branches=2)
  first = first_stage.folder_of(tmp_path)
  run_folders.save(first, "captioner", "distributed", single, vocabulary)
  best = single.region_attention.score_kernel.numpy()
  single.region_attention.score_kernel.assign(best + 1.0)
  checkpoints.StepCheckpoints(first / "checkpoints").save(2, model=single)
  fresh = grown.region_attention.score_kernel.numpy()

  config = small_runs.captioner_config(
    "distributed", epochs=3, first_stage_steps=2, first_stage_weights=weights
  )
  steps = loop.from_options(config, steps_per_epoch=4)
  assert first_stage.begin(tmp_path, grown, config, steps).start_step == 2
  expected = best if weights == "best" else best + 1.0
  np.testing.assert_array_equal(grown.region_attention.score_kernel[:1], expected)
  np.testing.assert_array_equal(grown.region_attention.score_kernel[1:], fresh[1:])

  checkpoints.StepCheckpoints(tmp_path / "checkpoints").save(3, model=grown)
  grown.region_attention.score_kernel.assign(fresh)
  first_stage.begin(tmp_path, grown, config, steps)  # The run has begun: its own weights count.
  np.testing.assert_array_equal(grown.region_attention.score_kernel, fresh)


def test_a_first_stage_that_makes_no_sense_is_refused():
  with pytest.raises(errors.UserError, match="not for neuraltalk2"):
    first_stage.stage(small_runs.captioner_config("neuraltalk2", first_stage_epochs=1, epochs=2))
  with pytest.raises(errors.UserError, match="must be below epochs, 2"):
    first_stage.stage(small_runs.captioner_config("gvd", first_stage_epochs=2, epochs=2))
  with pytest.raises(errors.UserError, match="must be below max_steps, 9"):
    first_stage.stage(small_runs.captioner_config("gvd", first_stage_steps=9, max_steps=9))
  with pytest.raises(errors.UserError, match="leave one of them 0"):
    both = {"first_stage_epochs": 1, "epochs": 2, "first_stage_steps": 1}
    first_stage.stage(small_runs.captioner_config("gvd", **both))


def test_the_first_stage_of_an_earlier_version_is_found(tmp_path):
  assert first_stage.folder_of(tmp_path) == tmp_path / "first_stage"
  (tmp_path / "warm_up").mkdir()
  assert first_stage.folder_of(tmp_path) == tmp_path / "warm_up"
