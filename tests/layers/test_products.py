"""Flat matrix products."""

import numpy as np
import tensorflow as tf

from gcap_tf.layers import products


def test_a_flat_product_is_the_product_over_the_last_axis():
  x = tf.random.stateless_normal([2, 3, 4, 5], [1, 2])
  kernel = tf.random.stateless_normal([5, 6], [3, 4])
  np.testing.assert_allclose(
    products.flat_matmul(x, kernel), np.einsum("abck,kn->abcn", x, kernel), atol=1e-5
  )


def test_its_gradient_adds_up_over_all_leading_axes():
  x, kernel = tf.ones([2, 3, 4]), tf.ones([4, 5])
  with tf.GradientTape() as tape:
    tape.watch(kernel)
    total = tf.reduce_sum(products.flat_matmul(x, kernel))
  np.testing.assert_array_equal(tape.gradient(total, kernel), np.full((4, 5), 6.0))
