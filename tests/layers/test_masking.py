"""Softmax and averages under a mask."""

import numpy as np
import tensorflow as tf

from gcap_tf.layers import masking


def test_real_entries_sum_to_one_and_padding_is_exactly_zero():
  logits = tf.constant([[1.0, 2.0, 50.0], [0.5, -1.0, 3.0]])
  mask = tf.constant([[True, True, False], [True, True, True]])
  weights = masking.masked_softmax(logits, mask).numpy()
  assert weights[0, 2] == 0.0
  np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-6)
  # exp(1) / (exp(1) + exp(2)) by hand.
  np.testing.assert_allclose(weights[0, 0], 1 / (1 + np.e), atol=1e-6)


def test_a_row_without_real_entries_is_zero_with_zero_gradient():
  logits = tf.constant([[4.0, float("inf")]])
  with tf.GradientTape() as tape:
    tape.watch(logits)
    weights = masking.masked_softmax(logits, tf.constant([[False, False]]))
    total = tf.reduce_sum(weights)
  np.testing.assert_array_equal(weights, [[0.0, 0.0]])
  np.testing.assert_array_equal(tape.gradient(total, logits), [[0.0, 0.0]])


def test_huge_logits_do_not_overflow():
  weights = masking.masked_softmax(tf.constant([[1e30, -1e30]]), tf.constant([[True, True]]))
  np.testing.assert_array_equal(weights, [[1.0, 0.0]])


def test_softmax_works_along_any_axis_and_broadcasts_the_mask():
  logits = tf.random.stateless_normal([2, 3, 4], seed=[1, 2])
  mask = tf.constant([True, False, True])[None, :, None]
  weights = masking.masked_softmax(logits, mask, axis=1).numpy()
  kept = np.exp(logits.numpy()[:, [0, 2]])
  np.testing.assert_allclose(weights[:, [0, 2]], kept / kept.sum(1, keepdims=True), atol=1e-6)
  assert not weights[:, 1].any()


def test_mean_counts_real_entries_only():
  values = tf.constant([[2.0, 4.0, 100.0], [7.0, 7.0, 7.0]])
  mask = tf.constant([[True, True, False], [False, False, False]])
  np.testing.assert_allclose(masking.masked_mean(values, mask), [3.0, 0.0])
