"""Tests of gcap_tf/training/methods/matcher_training.py."""

import json

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.evaluation import matcher_evaluation
from gcap_tf.runs import run_folders
from gcap_tf.training import pictures
from gcap_tf.training.methods import matcher_training
from tests.training import small_runs


def test_training_writes_a_run_that_loads_and_does_not_train_twice(tmp_path):
  data = small_runs.data(tmp_path, blocks=True)
  run = tmp_path / "run"
  figures = matcher_training.train(data, small_runs.matcher_config("pfan"), run)
  assert figures["best_score"] == figures["rsum"] > 0
  loaded = run_folders.load(run, "matcher")
  assert loaded.config["dataset"] == "hand_made"
  assert loaded.config["training"]["batch_size"] == 16
  assert loaded.model.config.feature_size == data.feature_size
  log = (run / "metrics.jsonl").read_text()
  steps = [json.loads(line)["step"] for line in log.splitlines()]
  assert max(steps) == 4  # 12 pictures with 5 captions, 16 in a batch.
  check_shown(run, figures)
  check_positions(loaded, data.split("val"))
  matcher_training.train(data, small_runs.matcher_config("pfan"), run)
  assert (run / "metrics.jsonl").read_text() == log


def check_shown(run, figures):
  """TensorBoard has curves, attention, its PR curve and the options."""
  assert {"attention_f1", "attention_accuracy"} <= figures.keys()
  found = small_runs.summaries(run)
  shown = {tag for tag in found if tag.startswith("attention/")} - {"attention/pr_curves"}
  assert len(shown) == pictures.SHOWN
  assert small_runs.image(found["attention_pr_curve"][0]).shape == (560, 720, 3)
  assert {"training/loss", "validation/rsum", "validation/attention_f1"} <= found.keys()
  assert "_hparams_/session_start_info" in found


def check_positions(run, split):
  """A validation reads the source's own position blocks, not those of boxes."""
  encoded = matcher_evaluation.encode_split(run.model, run.vocabulary, split)
  item = split.record(1).regions
  batch = {
    "features": item.features[None],
    "region_mask": np.ones([1, 4], bool),
    "position_blocks": item.position_blocks[None],
  }
  alone = run.model.encode_images({name: tf.constant(x) for name, x in batch.items()})
  np.testing.assert_allclose(encoded.images["regions"][1], alone["regions"][0], atol=1e-6)


def test_regions_without_features_are_read_by_their_labels(tmp_path):
  data = small_runs.data(tmp_path, feature_size=0)
  matcher_training.train(data, small_runs.matcher_config(), tmp_path / "run")
  run = run_folders.load(tmp_path / "run", "matcher")
  assert run.model.config.num_labels == len(run.vocabulary.labels) > 0
  split = data.split("train")
  encoded = matcher_evaluation.encode_split(run.model, run.vocabulary, split)
  by_label = {}
  for picture, regions in enumerate(encoded.images["regions"]):
    for label, vector in zip(split.record(picture).regions.labels, regions, strict=False):
      by_label.setdefault(label, []).append(vector)
  for vectors in by_label.values():
    np.testing.assert_allclose(vectors, np.broadcast_to(vectors[0], np.shape(vectors)), atol=1e-6)
  assert len({tuple(np.round(vectors[0], 4)) for vectors in by_label.values()}) == len(by_label)


def test_vsepp_has_nothing_to_read_where_regions_have_labels_alone(tmp_path):
  data = small_runs.data(tmp_path, feature_size=0)
  with pytest.raises(errors.UserError, match="regions without features; vsepp needs them"):
    matcher_training.train(data, small_runs.matcher_config("vsepp"), tmp_path / "run")


def test_sgraf_has_a_place_for_every_region_of_the_data(tmp_path):
  data = small_runs.data(tmp_path)
  config = small_runs.matcher_config("sgraf")
  vocabulary = data.build_vocabulary("matcher", 1)
  assert matcher_training.model_config(data, vocabulary, config).regions == data.max_regions


def test_pfan_without_boxes_or_blocks_is_refused(tmp_path):
  data = small_runs.data(tmp_path, boxes=False)
  with pytest.raises(errors.UserError, match="pfan reads where regions are"):
    matcher_training.train(data, small_runs.matcher_config("pfan"), tmp_path / "run")


def test_an_unknown_option_of_the_model_is_named(tmp_path):
  data = small_runs.data(tmp_path)
  config = matcher_training.MatcherTrainingConfig(options={"joint_sise": 4}, min_count=1)
  with pytest.raises(errors.UserError, match='did you mean "joint_size"'):
    matcher_training.train(data, config, tmp_path / "run")
