"""Tests of gcap_tf/runs/renamed_options.py."""

import pytest

from gcap_tf import config as configs
from gcap_tf.runs import renamed_options
from gcap_tf.training.methods import captioning, self_critical


def test_options_of_an_earlier_version_are_read_under_their_new_names():
  old = {"losses": {"sampling": {"start": 0}, "distill_weight": 0.1}, "warm_up_epochs": 3}
  config = configs.from_dict(captioning.CaptionerTrainingConfig, renamed_options.current(old))
  assert config.losses.scheduled_sampling.start == 0 and config.losses.distill_weight == 0.1
  assert config.first_stage_epochs == 3
  assert old["losses"]["sampling"] == {"start": 0}  # The argument is not changed.
  drawn = {"sampling": {"samples": 3}}
  config = configs.from_dict(self_critical.ScstTrainingConfig, renamed_options.current(drawn))
  assert config.sampled_captions.samples == 3


@pytest.mark.parametrize("training", [{}, {"losses": {}}, {"first_stage_steps": 4}])
def test_current_options_stay_as_they_are(training):
  assert renamed_options.current(training) == training


@pytest.mark.parametrize(
  ("global_size", "is_mean"), [(0, False), (6, False), (4, True)], ids=["none", "own", "mean"]
)
def test_a_global_feature_as_large_as_a_region_meant_the_mean(global_size, is_mean):
  old = {"model_config": {"feature_size": 4, "global_size": global_size}}
  found = renamed_options.current_run(old)["model_config"]
  assert found == {**old["model_config"], "global_is_mean": is_mean}


def test_a_recorded_global_feature_and_matchers_stay_as_they_are():
  for options in (
    {"feature_size": 4, "global_size": 4, "global_is_mean": False},
    {"joint_size": 3},
  ):
    assert renamed_options.current_model(options) == options


def test_every_stage_of_a_run_is_read():
  config = {
    "model": "updown",
    "training": {"warm_up_weights": "last"},
    "earlier_stages": [{"training": {"sampling": {}}}, {"method": "imported"}],
  }
  assert renamed_options.current_run(config) == {
    "model": "updown",
    "training": {"first_stage_weights": "last"},
    "earlier_stages": [{"training": {"sampled_captions": {}}}, {"method": "imported"}],
  }
