import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.layers import product

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("outputs, width", [(256, 272), (512, 528), (100, 100), (9, 9)])
def test_rows_that_would_collide_are_widened(outputs, width):
  kernel = RNG.normal(size=(3, outputs)).astype(np.float32)
  wide = product.widen(tf.constant(kernel))
  assert wide.shape == (3, width)
  np.testing.assert_array_equal(wide[:, :outputs], kernel)


@pytest.mark.parametrize("shape", [(5, 7), (256, 512)])
def test_both_forms_are_the_plain_product(shape):
  kernel = tf.constant(RNG.normal(size=shape), tf.float32)
  x = tf.constant(RNG.normal(size=(4, shape[0])), tf.float32)
  for form in (product.with_kernel, product.with_constant):
    np.testing.assert_allclose(form(kernel)(x), tf.matmul(x, kernel), atol=1e-4)


@pytest.mark.parametrize("shape", [(5, 7), (256, 512)])
def test_gradients_are_those_of_the_plain_product_but_for_a_constant_kernel(shape):
  kernel = tf.Variable(RNG.normal(size=shape), dtype=tf.float32)
  x = tf.Variable(RNG.normal(size=(4, shape[0])), dtype=tf.float32)
  weights = tf.constant(RNG.normal(size=(4, shape[1])), tf.float32)

  def gradients(function):
    with tf.GradientTape() as tape:
      total = tf.reduce_sum(function(x) * weights)
    return tape.gradient(total, [x, kernel])

  expected = gradients(lambda x: tf.matmul(x, kernel))
  found = gradients(lambda x: product.with_kernel(kernel)(x))
  for mine, other in zip(found, expected, strict=True):
    np.testing.assert_allclose(mine, other, atol=1e-4)
  found = gradients(lambda x: product.with_constant(kernel)(x))
  np.testing.assert_allclose(found[0], expected[0], atol=1e-4)
  assert found[1] is None


def test_a_flat_product_is_the_product_over_the_last_axis():
  x = tf.random.stateless_normal([2, 3, 4, 5], [1, 2])
  kernel = tf.random.stateless_normal([5, 6], [3, 4])
  np.testing.assert_allclose(
    product.flat_matmul(x, kernel), np.einsum("abck,kn->abcn", x, kernel), atol=1e-5
  )


def test_its_gradient_adds_up_over_all_leading_axes():
  x, kernel = tf.ones([2, 3, 4]), tf.ones([4, 5])
  with tf.GradientTape() as tape:
    tape.watch(kernel)
    total = tf.reduce_sum(product.flat_matmul(x, kernel))
  np.testing.assert_array_equal(tape.gradient(total, kernel), np.full((4, 5), 6.0))
