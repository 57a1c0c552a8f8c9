import numpy as np
import tensorflow as tf

from gcap_tf.layers import dropout, recurrent


def sigmoid(x):
  return 1 / (1 + np.exp(-x))


def test_cell_matches_a_restatement_unit_by_unit():
  rng = np.random.default_rng(0)
  cell = recurrent.LSTMCell(2, inputs=(3, 4), stepped=5)
  first, second, stepped = (rng.normal(size=(2, n)).astype(np.float32) for n in (3, 4, 5))
  h, c = (rng.normal(size=(2, 2)).astype(np.float32) for _ in range(2))
  known = cell.project(0, tf.constant(first)) + cell.project(1, tf.constant(second))
  new_h, new_c = cell(known, [tf.constant(stepped)], tf.constant(h), tf.constant(c))
  kernels = [kernel.numpy() for kernel in (*cell.input_kernels, cell.step_kernel)]
  for b in range(2):
    x = [first[b], second[b], np.concatenate([stepped[b], h[b]])]
    gates = sum(part @ kernel for part, kernel in zip(x, kernels, strict=True))
    gates = gates + cell.bias.numpy()
    for unit in range(2):
      i, f, g, o = gates[unit], gates[2 + unit], gates[4 + unit], gates[6 + unit]
      expected = sigmoid(f) * c[b, unit] + sigmoid(i) * np.tanh(g)
      np.testing.assert_allclose(new_c[b, unit], expected, rtol=1e-4, atol=1e-6)
      np.testing.assert_allclose(
        new_h[b, unit], sigmoid(o) * np.tanh(expected), rtol=1e-4, atol=1e-6
      )


def test_cell_starts_like_pytorchs_without_a_forget_bias():
  cell = recurrent.LSTMCell(100, inputs=(30,), stepped=20)
  assert 0.095 < np.abs(cell.step_kernel).max() <= 0.1
  assert 0.095 < np.abs(cell.input_kernels[0]).max() <= 0.1
  bias = cell.bias.numpy()
  # The sum of two U(±0.1): up to 0.2, variance twice that of one.
  assert 0.15 < np.abs(bias).max() <= 0.2
  assert abs(bias.std() - 0.1 * np.sqrt(2 / 3)) < 0.01
  assert abs(bias[100:200].mean()) < 0.03


def test_stepwise_dropout_equals_dropout_step_by_step():
  x = tf.constant(np.random.default_rng(0).normal(size=(4, 3, 50)), tf.float32)
  seed = tf.constant([7, 8])
  together = recurrent.stepwise_dropout(x, 0.4, seed, 5)
  for t in range(4):
    alone = dropout.dropout(x[t], 0.4, dropout.derive(seed, t), 5)
    np.testing.assert_allclose(together[t], alone, rtol=1e-6)
  assert (together[0].numpy() == 0).mean() > 0.2
  assert ((together[0].numpy() == 0) != (together[1].numpy() == 0)).any()
  assert recurrent.stepwise_dropout(x, 0.4, None, 5) is x
