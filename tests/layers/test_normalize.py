"""Norms and cosines at and away from zero."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.layers import normalize


def test_l2n_and_l1n_add_the_epsilon_after_the_norm():
  x = tf.constant([3e-8, 4e-8], tf.float64)
  np.testing.assert_allclose(normalize.l2n(x), [0.5, 4 / 6], rtol=1e-9)
  np.testing.assert_allclose(normalize.l1n(x), [3 / 8, 4 / 8], rtol=1e-9)


def test_cosine_clamps_the_product_of_norms():
  x, y = tf.constant([3.0, 4.0], tf.float64), tf.constant([4.0, 3.0], tf.float64)
  np.testing.assert_allclose(normalize.cosine(x, y), 24 / 25, rtol=1e-12)
  # |x| |y| = 25e-10 is under 1e-8, so 24e-10 is divided by 1e-8.
  np.testing.assert_allclose(normalize.cosine(x * 1e-10, y), 24e-10 / 1e-8, rtol=1e-9)


@pytest.mark.parametrize("function", [normalize.l2n, normalize.l1n, normalize.l2_norm])
def test_zero_vectors_have_finite_gradients(function):
  x = tf.zeros([2, 3])
  with tf.GradientTape() as tape:
    tape.watch(x)
    value = tf.reduce_sum(function(x) * 2.0)
  assert np.isfinite(tape.gradient(value, x)).all()


def test_cosine_with_a_zero_vector_is_zero_with_a_finite_gradient():
  x, y = tf.zeros([3]), tf.constant([1.0, 2.0, 3.0])
  with tf.GradientTape() as tape:
    tape.watch([x, y])
    value = normalize.cosine(x, y)
  assert value == 0
  assert all(np.isfinite(g).all() for g in tape.gradient(value, [x, y]))


def test_lrelu_has_slope_one_tenth():
  np.testing.assert_allclose(normalize.lrelu(tf.constant([-2.0, 3.0])), [-0.2, 3.0], rtol=1e-6)
