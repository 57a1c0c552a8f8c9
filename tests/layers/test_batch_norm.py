"""Batch normalisation: statistics, masks, the order of updates."""

import numpy as np
import tensorflow as tf

from gcap_tf.layers import batch_norm

X = np.random.default_rng(0).normal(2.0, 3.0, (4, 3, 5)).astype(np.float32)


def test_training_uses_the_batch_and_moves_the_running_statistics_unbiased():
  layer = batch_norm.BatchNorm(3)
  out = layer(tf.constant(X), axis=1, training=True).numpy()
  np.testing.assert_allclose(out.mean((0, 2)), 0.0, atol=1e-5)
  np.testing.assert_allclose(out.std((0, 2)), 1.0, atol=1e-3)
  np.testing.assert_allclose(layer.moving_mean.numpy(), 0.1 * X.mean((0, 2)), rtol=1e-5)
  unbiased = X.transpose(1, 0, 2).reshape(3, -1).var(1, ddof=1)
  np.testing.assert_allclose(layer.moving_variance.numpy(), 0.9 + 0.1 * unbiased, rtol=1e-5)


def test_evaluation_uses_the_running_statistics_and_moves_nothing():
  layer = batch_norm.BatchNorm(3)
  layer.moving_mean.assign([1.0, 2.0, 3.0])
  layer.moving_variance.assign([4.0, 9.0, 16.0])
  layer.gamma.assign([1.0, 2.0, 1.0])
  layer.beta.assign([0.0, 0.0, 5.0])
  out = layer(tf.constant(X), axis=1).numpy()
  np.testing.assert_allclose(out[:, 1], 2 * (X[:, 1] - 2) / np.sqrt(9 + 1e-5), rtol=1e-5)
  np.testing.assert_allclose(out[:, 2], (X[:, 2] - 3) / np.sqrt(16 + 1e-5) + 5, rtol=1e-4)
  np.testing.assert_array_equal(layer.moving_mean.numpy(), [1.0, 2.0, 3.0])


def test_masked_entries_do_not_count():
  mask = np.ones((4, 3, 1), bool)
  mask[2:, 1] = False
  layer = batch_norm.BatchNorm(3)
  rubbish = np.where(mask, X, 1e6).astype(np.float32)
  layer(tf.constant(rubbish), axis=1, counted=tf.constant(mask), training=True)
  np.testing.assert_allclose(layer.moving_mean.numpy()[1], 0.1 * X[:2, 1].mean(), rtol=1e-5)


def test_unused_slots_keep_their_running_statistics():
  layer = batch_norm.BatchNorm(5)
  layer(tf.constant(X), axis=1, training=True)
  np.testing.assert_array_equal(layer.moving_mean.numpy()[3:], 0.0)
  np.testing.assert_array_equal(layer.moving_variance.numpy()[3:], 1.0)


def test_captions_are_normalised_one_by_one_and_update_in_turn():
  mask = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], bool)
  order = [1, 2, 0]
  layer = batch_norm.BatchNorm(1)
  out = layer.over_captions(
    tf.constant(X), tf.constant(mask), tf.constant(order), training=True
  ).numpy()
  mean, variance = 0.0, 1.0
  for c in order:
    values = X[:, c, mask[c]]
    expected = (values - values.mean()) / np.sqrt(values.var() + 1e-5)
    np.testing.assert_allclose(out[:, c, mask[c]], expected, atol=1e-5)
    mean = 0.9 * mean + 0.1 * values.mean()
    variance = 0.9 * variance + 0.1 * values.var(ddof=1)
  np.testing.assert_allclose(layer.moving_mean.numpy(), [mean], rtol=1e-5)
  np.testing.assert_allclose(layer.moving_variance.numpy(), [variance], rtol=1e-5)
