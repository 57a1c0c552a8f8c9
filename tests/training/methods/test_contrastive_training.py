"""Tests of gcap_tf/training/methods/contrastive_training.py."""

import dataclasses

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from gcap_tf.training import schedules
from gcap_tf.training.methods import contrastive, contrastive_training
from tests.training import fine_tuned, small_runs


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  folder = tmp_path_factory.mktemp("contrastive")
  data = small_runs.data(folder)
  fine_tuned.captioner(folder / "start", data)
  return folder


def make_config(place, **options):
  chosen = {
    "start": str(place / "start"),
    "images": 6,
    "captions_per_image": 2,
    "epochs": 2,
    "contrast": contrastive.ContrastiveConfig(negatives=2, replace_every=1),
    "schedule": schedules.ScheduleConfig("constant", 0.01),
  } | options
  return contrastive_training.ContrastiveTrainingConfig(**chosen)


def train(place, config, run):
  return contrastive_training.train(prepared_data.PreparedData(place / "data"), config, run)


def test_a_run_that_was_stopped_ends_as_one_that_was_not(place, tmp_path, capsys):
  config = make_config(place)
  train(place, config, tmp_path / "whole")
  assert f"reference: neuraltalk2 from {place / 'start'}" in capsys.readouterr().out
  train(place, dataclasses.replace(config, epochs=1), tmp_path / "halves")
  train(place, config, tmp_path / "halves")
  for whole, halves in zip(
    fine_tuned.weights(tmp_path / "whole", 4), fine_tuned.weights(tmp_path / "halves", 4),
    strict=True,
  ):  # fmt: skip
    np.testing.assert_array_equal(whole, halves)
  last = fine_tuned.lines(tmp_path / "whole")[-2]
  assert last["step"] == 4 and last["negative"] > 0 and last["positive"] > 0
  assert (tmp_path / "whole" / "reference" / "epoch-00001").exists()


def test_a_reference_of_other_words_is_refused(place, tmp_path):
  data = prepared_data.PreparedData(place / "data")
  other = fine_tuned.captioner(tmp_path / "other", data, min_count=30)
  with pytest.raises(errors.UserError, match="has another vocabulary"):
    train(place, make_config(place, reference=str(other)), tmp_path / "run")
  assert not (tmp_path / "run").exists()


def test_a_reference_of_other_regions_is_refused(place, tmp_path):
  data = prepared_data.PreparedData(place / "data")
  other = fine_tuned.captioner(tmp_path / "other", data, feature_size=5)
  with pytest.raises(errors.UserError, match="has regions of 8 features"):
    train(place, make_config(place, reference=str(other)), tmp_path / "run")
