"""The packed recurrent layer against NumPy loops and finite differences."""

import numpy as np
import tensorflow as tf

from gcap_tf.layers import gru


def numpy_gru(x, kernel, recurrent, bias, recurrent_bias):
  """States of one sentence x [T, E], word by word."""
  sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
  units = recurrent.shape[0]
  h, states = np.zeros(units), []
  for word in x:
    i, g = word @ kernel + bias, h @ recurrent + recurrent_bias
    r = sigmoid(i[:units] + g[:units])
    z = sigmoid(i[units : 2 * units] + g[units : 2 * units])
    n = np.tanh(i[2 * units :] + r * g[2 * units :])
    h = (1 - z) * n + z * h
    states.append(h)
  return np.stack(states)


def example():
  random = np.random.default_rng(0)
  mask = np.array([[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]], bool)
  x = random.normal(size=(3, 4, 2))
  weights = [random.normal(size=s) for s in ((2, 9), (3, 9), (9,), (9,))]
  return mask, x, weights


def test_packing_orders_rows_by_time_and_mirrors_them_within_a_sentence():
  mask, _, _ = example()
  packing = gru.pack(tf.constant(mask))
  np.testing.assert_array_equal(
    packing.index, [[1, 0], [0, 0], [2, 0], [1, 1], [0, 1], [1, 2], [1, 3]]
  )
  np.testing.assert_array_equal(packing.sizes, [3, 2, 1, 1])
  mirrored = packing.index.numpy()[packing.reversed_row.numpy()]
  np.testing.assert_array_equal(mirrored, [[1, 3], [0, 1], [2, 0], [1, 2], [0, 0], [1, 1], [1, 0]])


def test_states_equal_a_loop_over_words():
  mask, x, weights = example()
  packing = gru.pack(tf.constant(mask))
  packed = tf.gather_nd(tf.constant(x), packing.index)
  h = gru.packed_gru(packed, packing.sizes, *map(tf.constant, weights))
  padded = tf.scatter_nd(packing.index, h, [3, 4, 3]).numpy()
  for sentence, length in enumerate(mask.sum(1)):
    expected = numpy_gru(x[sentence, :length], *weights)
    np.testing.assert_allclose(padded[sentence, :length], expected, atol=1e-12)


def test_the_hand_written_gradient_equals_finite_differences_in_graph_and_eager():
  mask, x, weights = example()
  packing = gru.pack(tf.constant(mask))
  packed = tf.gather_nd(tf.constant(x), packing.index)
  direction = tf.constant(np.random.default_rng(1).normal(size=(7, 3)))

  def value(*arguments):
    return tf.reduce_sum(direction * gru.packed_gru(arguments[0], packing.sizes, *arguments[1:]))

  arguments = [packed, *map(tf.constant, weights)]
  for run in (value, tf.function(value)):
    theory, numeric = tf.test.compute_gradient(run, arguments, delta=1e-5)
    for t, n in zip(theory, numeric, strict=True):
      np.testing.assert_allclose(t, n, atol=1e-8)


def test_all_weights_start_inside_the_uniform_bound():
  layer = gru.PackedGRU(5, 16)
  for weight in layer.weights:
    assert np.abs(weight.numpy()).max() <= 0.25
    assert np.abs(weight.numpy()).max() > 0.2


def test_mirroring_twice_gives_the_rows_back_and_gradients_follow():
  mask, x, _ = example()
  packing = gru.pack(tf.constant(mask))
  rows = tf.gather_nd(tf.constant(x), packing.index)
  with tf.GradientTape() as tape:
    tape.watch(rows)
    mirrored = gru.mirror(rows, packing.reversed_row)
    value = tf.reduce_sum(mirrored[0] * 2.0)  # Row 0 is the last word of sentence 1.
  np.testing.assert_array_equal(gru.mirror(mirrored, packing.reversed_row), rows)
  gradient = tf.convert_to_tensor(tape.gradient(value, rows)).numpy()
  assert gradient[6].tolist() == [2.0, 2.0]
  assert np.count_nonzero(gradient) == 2
