"""Tests of gcap_tf/training/matcher_training.py."""

import json

import pytest

from gcap_tf import errors
from gcap_tf.training import matcher_training, runs
from tests.training import small_runs


def test_training_writes_a_run_that_loads_and_does_not_train_twice(tmp_path):
  data = small_runs.data(tmp_path)
  run = tmp_path / "run"
  figures = matcher_training.train(data, small_runs.matcher_config(), run)
  assert figures["best_score"] == figures["rsum"] > 0
  loaded = runs.load(run, "matcher")
  assert loaded.config["dataset"] == "hand_made"
  assert loaded.config["training"]["batch_size"] == 16
  assert loaded.model.config.feature_size == data.feature_size
  log = (run / "metrics.jsonl").read_text()
  steps = [json.loads(line)["step"] for line in log.splitlines()]
  assert max(steps) == 4  # 12 pictures with 5 captions, 16 in a batch.
  matcher_training.train(data, small_runs.matcher_config(), run)
  assert (run / "metrics.jsonl").read_text() == log


def test_regions_without_features_are_refused(tmp_path):
  data = small_runs.data(tmp_path, feature_size=0)
  with pytest.raises(errors.UserError, match="regions without features"):
    matcher_training.train(data, small_runs.matcher_config(), tmp_path / "run")


def test_an_unknown_option_of_the_model_is_named(tmp_path):
  data = small_runs.data(tmp_path)
  config = matcher_training.MatcherTrainingConfig(options={"joint_sise": 4}, min_count=1)
  with pytest.raises(errors.UserError, match='did you mean "joint_size"'):
    matcher_training.train(data, config, tmp_path / "run")
