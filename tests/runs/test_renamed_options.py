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
