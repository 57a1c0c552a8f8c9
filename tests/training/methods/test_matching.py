"""Tests of gcap_tf/training/methods/matching.py."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.evaluation import matcher_evaluation, validation_pictures
from gcap_tf.losses import ranking
from gcap_tf.matchers import bfan, scan, sgraf, vsepp
from gcap_tf.runs import run_folders
from gcap_tf.training import optimizers
from gcap_tf.training.methods import matching
from tests import matcher_harness
from tests.training import small_runs

BATCH = matcher_harness.example_batch(images=6)
SEED = tf.constant([5, 6])
MAKERS = {
  "scan": lambda: matcher_harness.small(scan.SCANMatcher),
  "bfan": lambda: matcher_harness.small(bfan.BFANMatcher),
  "SGR": lambda: matcher_harness.small(sgraf.SGRAFMatcher, head="SGR", similarity_size=4),
  "SAF": lambda: matcher_harness.small(
    sgraf.SGRAFMatcher, head="SAF", similarity_size=4, dropout_rate=0.1
  ),
}


def gradients(model, value):
  variables = model.trainable_variables
  with tf.GradientTape() as tape:
    loss = value()
  found = tape.gradient(loss, variables, unconnected_gradients="zero")
  return loss, [tf.convert_to_tensor(g).numpy() for g in found]


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_hard_negatives_scored_again_give_the_loss_and_gradients_of_all_pairs(name):
  model = MAKERS[name]()
  trainer = matching.MatchingTrainer(model, matching.MatchingLosses())

  def dense():
    images, captions = model.encode_images(BATCH, SEED), model.encode_captions(BATCH, SEED)
    scores = model.similarity(images, captions, training=True)
    return ranking.triplet(scores, tf.range(6), 0.2)

  expected_loss, expected = gradients(model, dense)
  loss, actual = gradients(model, lambda: trainer.losses(BATCH, SEED)["ranking"])
  np.testing.assert_allclose(loss, expected_loss, rtol=1e-4)
  for a, e in zip(actual, expected, strict=True):
    np.testing.assert_allclose(a, e, atol=2e-4 * max(1.0, np.abs(e).max()))


def test_constraints_are_added_with_their_weights():
  model = MAKERS["bfan"]()
  config = matching.MatchingLosses(ccr_weight=1.0, ccs_weight=0.1, ccs_margin=0.9, ccr_margin=0.9)
  losses = matching.MatchingTrainer(model, config).losses(BATCH, SEED)
  assert set(losses) == {"ranking", "ccr", "ccs"}
  heavier = matching.MatchingLosses(ccr_weight=2.0, ccs_weight=0.1, ccs_margin=0.9, ccr_margin=0.9)
  again = matching.MatchingTrainer(model, heavier).losses(BATCH, SEED)
  assert losses["ccr"] > 0
  np.testing.assert_allclose(again["ccr"], 2 * losses["ccr"], rtol=1e-5)
  np.testing.assert_allclose(again["ccs"], losses["ccs"], rtol=1e-5)


def test_constraints_on_a_matcher_without_attention_are_refused():
  with pytest.raises(errors.UserError, match="constrain attention"):
    matching.MatchingTrainer(
      matcher_harness.small(vsepp.VSEPPMatcher), matching.MatchingLosses(ccs_weight=0.1)
    )


def test_the_first_epochs_can_sum_over_negatives():
  model = MAKERS["scan"]()
  config = matching.MatchingLosses(sum_epochs=1)
  trainer = matching.MatchingTrainer(model, config)
  compiled = tf.function(lambda: trainer.losses(BATCH, SEED)["ranking"], autograph=False)
  scores = tf.constant(matcher_harness.similarity(model, BATCH))
  for epoch, negatives in ((0, "sum"), (1, "hardest")):
    trainer.begin_epoch(epoch)
    expected = ranking.triplet(scores, tf.range(6), 0.2, negatives)
    np.testing.assert_allclose(compiled(), expected, rtol=1e-4)


def test_captions_of_the_same_picture_can_be_spared():
  model = MAKERS["scan"]()
  twice = {**BATCH, "image_id": tf.constant(["a", "a", "b", "c", "d", "e"])}
  spared = matching.MatchingTrainer(model, matching.MatchingLosses(exclude_same_image=True))
  scores = tf.constant(matcher_harness.similarity(model, twice))
  positives = np.eye(6, dtype=bool)
  positives[:2, :2] = True
  expected = ranking.triplet(scores, tf.range(6), 0.2, positives=tf.constant(positives))
  np.testing.assert_allclose(spared.losses(twice, SEED)["ranking"], expected, rtol=1e-4)


def test_several_captions_a_picture_are_trained_together():
  model = MAKERS["scan"]()
  batch = {**BATCH}
  for name in ("features", "boxes", "region_mask", "global_feature", "image_id"):
    batch[name] = BATCH[name][:3]
  scores = tf.constant(matcher_harness.similarity(model, batch))
  expected = ranking.triplet(scores, tf.constant([0, 0, 1, 1, 2, 2]), 0.2)
  trainer = matching.MatchingTrainer(model, matching.MatchingLosses(ccr_weight=0.1))
  np.testing.assert_allclose(trainer.losses(batch, SEED)["ranking"], expected, rtol=1e-4)


@pytest.mark.parametrize("name", ["scan", "SAF"])
def test_a_few_steps_overfit_a_batch(name):
  keras.utils.set_random_seed(1)
  model = MAKERS[name]()
  config = matching.MatchingLosses(ccr_weight=0.1, ccs_weight=0.1)
  trainer = matching.MatchingTrainer(model, config)
  variables = [variable.value for variable in model.trainable_variables]
  adam = optimizers.Adam(optimizers.OptimizerConfig(), variables)

  @tf.function(autograph=False)
  def step(seed):
    with tf.GradientTape() as tape:
      losses = trainer.losses(BATCH, seed)
      total = tf.add_n(list(losses.values()))
    adam.apply(tape.gradient(total, variables), 0.01)
    return total

  first = float(step(tf.constant([0, 0])))
  last = np.mean([float(step(tf.constant([0, n]))) for n in range(1, 60)][-5:])
  assert last < 0.6 * first


def test_training_writes_a_run_that_loads_and_does_not_train_twice(tmp_path):
  data = small_runs.data(tmp_path, blocks=True)
  run = tmp_path / "run"
  figures = matching.train(data, small_runs.matcher_config("pfan"), run)
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
  matching.train(data, small_runs.matcher_config("pfan"), run)
  assert (run / "metrics.jsonl").read_text() == log


def check_shown(run, figures):
  """TensorBoard has curves, attention, its PR curve and the options."""
  assert {"attention_f1", "attention_accuracy"} <= figures.keys()
  found = small_runs.summaries(run)
  shown = {tag for tag in found if tag.startswith("attention/")} - {"attention/pr_curves"}
  assert len(shown) == validation_pictures.SHOWN
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
  matching.train(data, small_runs.matcher_config(), tmp_path / "run")
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
    matching.train(data, small_runs.matcher_config("vsepp"), tmp_path / "run")


def test_pfan_without_boxes_or_blocks_is_refused(tmp_path):
  data = small_runs.data(tmp_path, boxes=False)
  with pytest.raises(errors.UserError, match="pfan reads where regions are"):
    matching.train(data, small_runs.matcher_config("pfan"), tmp_path / "run")


def test_an_unknown_option_of_the_model_is_named(tmp_path):
  data = small_runs.data(tmp_path)
  config = matching.MatcherTrainingConfig(options={"joint_sise": 4}, min_count=1)
  with pytest.raises(errors.UserError, match='did you mean "joint_size"'):
    matching.train(data, config, tmp_path / "run")
