"""Gradients by finite differences."""

import numpy as np
import tensorflow as tf


def check_gradient(function, x, tolerance=2e-2, step=1e-2):
  """Compares the tape's gradient of a scalar function with central differences."""
  variable = tf.Variable(np.asarray(x, np.float32))
  with tf.GradientTape() as tape:
    value = function(variable)
  gradient = tf.convert_to_tensor(tape.gradient(value, variable)).numpy()
  expected = np.zeros_like(gradient)
  for index in np.ndindex(gradient.shape):
    values = []
    for sign in (1, -1):
      moved = variable.numpy()
      moved[index] += sign * step
      values.append(float(function(tf.constant(moved))))
    expected[index] = (values[0] - values[1]) / (2 * step)
  assert np.abs(expected).max() > 1e-3
  np.testing.assert_allclose(gradient, expected, atol=tolerance * np.abs(expected).max())
