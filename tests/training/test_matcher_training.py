"""Tests of gcap_tf/training/matcher_training.py."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import matcher_evaluation, matcher_training, runs
from tests.data import make_records
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


def test_pfan_learns_and_is_judged_from_position_blocks_without_boxes(tmp_path):
  records = {}
  for split, count in (("train", 6), ("val", 2)):
    items = make_records.make_records(count, split=split, boxes=False)
    blocks = [np.tile([n] * 15 + [1 / 15] * 15, [4, 1]).astype(np.float32) for n in range(count)]
    records[split] = [
      dataclasses.replace(item, regions=dataclasses.replace(item.regions, position_blocks=own))
      for item, own in zip(items, blocks, strict=True)
    ]
  data = make_records.write_folder(tmp_path / "blocks", records)
  config = small_runs.matcher_config("pfan")
  assert matcher_training.train(data, config, tmp_path / "run")["rsum"] > 0
  run = runs.load(tmp_path / "run", "matcher")
  encoded = matcher_evaluation.encode_split(run.model, run.vocabulary, data.split("val"))
  item = records["val"][1].regions
  batch = {
    "features": item.features[None],
    "region_mask": np.ones([1, 4], bool),
    "position_blocks": item.position_blocks[None],
  }
  alone = run.model.encode_images({name: tf.constant(x) for name, x in batch.items()})
  np.testing.assert_allclose(encoded.images["regions"][1], alone["regions"][0], atol=1e-6)


def test_pfan_without_boxes_or_blocks_is_refused(tmp_path):
  data = small_runs.data(tmp_path, boxes=False)
  with pytest.raises(errors.UserError, match="pfan reads where regions are"):
    matcher_training.train(data, small_runs.matcher_config("pfan"), tmp_path / "run")


def test_an_unknown_option_of_the_model_is_named(tmp_path):
  data = small_runs.data(tmp_path)
  config = matcher_training.MatcherTrainingConfig(options={"joint_sise": 4}, min_count=1)
  with pytest.raises(errors.UserError, match='did you mean "joint_size"'):
    matcher_training.train(data, config, tmp_path / "run")
