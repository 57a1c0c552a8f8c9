import numpy as np
import tensorflow as tf

from gcap_tf.layers import object_interaction

MASK = np.array([[True, True, True, False], [True] * 4])


def regions():
  return np.random.default_rng(0).normal(size=(2, 4, 10)).astype(np.float32)


def test_heads_take_consecutive_chunks_and_the_last_what_is_left():
  assert object_interaction.ObjectInteraction(1024).blocks[0].chunks == [171] * 5 + [169]


def test_norm_divides_by_the_unbiased_deviation():
  x = np.array([[1.0, 2.0, 6.0]], np.float32)
  layer = object_interaction.UnbiasedNorm(3)
  expected = (x - 3.0) / (np.std(x, ddof=1) + 1e-6)
  np.testing.assert_allclose(layer(tf.constant(x)), expected, rtol=1e-5)


def test_one_layer_matches_a_restatement_with_loops():
  layer = object_interaction.ObjectInteraction(10, layers=1, heads=3, inner=6)
  x, block = regions(), layer.blocks[0]
  found = layer(tf.constant(x), tf.constant(MASK)).numpy()

  def norm(row):
    return (row - row.mean()) / (row.std(ddof=1) + 1e-6)

  for i in range(2):
    q, k, v = (x[i] @ layer.kernel.numpy() for layer in (block.q, block.k, block.v))
    for r in range(4):
      heads = []
      for part in (slice(0, 4), slice(4, 8), slice(8, 10)):
        scores = np.array([q[r, part] @ k[j, part] / np.sqrt(10.0) for j in range(4)])
        weights = np.exp(scores) * MASK[i]
        heads.append((weights / weights.sum()) @ v[:, part])
      row = norm(x[i, r] + np.concatenate(heads) @ block.o.kernel.numpy())
      inner = np.maximum(row @ block.widen.kernel.numpy() + block.widen.bias.numpy(), 0)
      outer = inner @ block.narrow.kernel.numpy() + block.narrow.bias.numpy()
      np.testing.assert_allclose(found[i, r], norm(row + outer), atol=1e-4)


def test_padding_changes_nothing_and_noise_only_training():
  layer = object_interaction.ObjectInteraction(10, heads=3, inner=6)
  x, mask = regions(), tf.constant(MASK)
  noisy = x.copy()
  noisy[0, 3] = 50.0
  clean = layer(tf.constant(x), mask).numpy()
  np.testing.assert_allclose(layer(tf.constant(noisy), mask)[0, :3], clean[0, :3], atol=1e-5)
  trained = layer(tf.constant(x), mask, tf.constant([1, 2])).numpy()
  assert np.abs(trained - clean).max() > 1e-3


def test_a_constant_row_has_a_finite_gradient():
  layer = object_interaction.UnbiasedNorm(3)
  x = tf.Variable([[2.0, 2.0, 2.0]])
  with tf.GradientTape() as tape:
    y = tf.reduce_sum(layer(x) * tf.constant([1.0, 2.0, 3.0]))
  assert np.isfinite(tape.gradient(y, x)).all()
