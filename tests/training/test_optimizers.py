"""Tests of gcap_tf/training/optimizers.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import optimizers


def adam_by_hand(w, gradients, lr, b1=0.9, b2=0.999, eps=1e-8):
  m = v = 0.0
  for t, g in enumerate(gradients, 1):
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    w = w - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)
  return w


def test_adam_equals_the_formula_also_for_tiny_gradients():
  rng = np.random.default_rng(0)
  start = rng.normal(size=(3, 2))
  for scale in (1.0, 1e-7):
    gradients = rng.normal(size=(5, 3, 2)) * scale
    variable = tf.Variable(start, dtype=tf.float32)
    config = optimizers.OptimizerConfig(clip="none")
    adam = optimizers.Adam(config, [variable])
    for gradient in gradients:
      adam.apply([tf.constant(gradient, tf.float32)], tf.constant(0.01))
    np.testing.assert_allclose(
      variable.numpy(), adam_by_hand(start, gradients, 0.01), rtol=1e-5, atol=1e-6
    )


def test_rows_without_gradient_still_decay_their_moments():
  table = tf.Variable(tf.ones([3, 2]))
  adam = optimizers.Adam(optimizers.OptimizerConfig(clip="none"), [table])
  adam.apply([tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]), tf.constant([3, 2]))], 0.1)
  adam.apply([tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))], 0.1)
  ones = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])  # Gradient of each row, by step.
  expected = [adam_by_hand(1.0, row, 0.1) for row in ones]
  np.testing.assert_allclose(table.numpy()[:, 0], expected, rtol=1e-5)


def test_norm_clipping_scales_all_gradients_jointly():
  config = optimizers.OptimizerConfig(clip="norm", clip_at=1.0)
  clipped, norm = optimizers.clip([tf.constant([3.0]), tf.constant([4.0])], config)
  assert float(norm) == 5.0
  np.testing.assert_allclose([float(g[0]) for g in clipped], [0.6, 0.8], rtol=1e-6)


def test_value_clipping_clamps_each_element():
  config = optimizers.OptimizerConfig(clip="value", clip_at=0.1)
  clipped, _ = optimizers.clip([tf.constant([3.0, -0.05, -7.0])], config)
  np.testing.assert_allclose(clipped[0].numpy(), [0.1, -0.05, -0.1])


def test_a_variable_without_gradient_stays():
  used, unused = tf.Variable([1.0]), tf.Variable([2.0])
  adam = optimizers.Adam(optimizers.OptimizerConfig(), [used, unused])
  adam.apply([tf.constant([1.0]), None], 0.1)
  assert float(unused[0]) == 2.0 and float(used[0]) < 1.0


def test_named_weights_learn_at_a_tenth_of_the_rate():
  config = optimizers.OptimizerConfig(clip="none", slow=("classes/kernel",))
  names = ("classes/kernel", "other/kernel", "subclasses/kernel")
  variables = [tf.Variable(1.0, name=name) for name in names]
  optimizers.Adam(config, variables).apply([tf.constant(1.0)] * 3, tf.constant(0.1))
  moved = [1.0 - float(variable) for variable in variables]
  np.testing.assert_allclose(moved, [0.01, 0.1, 0.1], rtol=1e-4)  # Adam's first step is the rate.


def test_slow_weights_that_the_model_lacks_are_named():
  config = optimizers.OptimizerConfig(slow=("clases/kernel",))
  with pytest.raises(errors.UserError, match='"clases/kernel"'):
    optimizers.Adam(config, [tf.Variable(1.0, name="classes/kernel")])
