import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.layers import additive_attention


@pytest.mark.parametrize("heads", [1, 3])
def test_scores_match_a_restatement_with_loops(heads):
  rng = np.random.default_rng(heads)
  layer = additive_attention.AdditiveAttention(5, 6, 4, heads)
  values = rng.normal(size=(2, 3, 5)).astype(np.float32)
  queries = rng.normal(size=(4, 6)).astype(np.float32)
  scores = layer(layer.keys(tf.constant(values)), tf.constant(queries))
  assert scores.shape == (2, 2, heads, 3)
  keys = values @ layer.key_map.kernel.numpy() + layer.key_map.bias.numpy()
  asked = queries @ layer.query_map.kernel.numpy() + layer.query_map.bias.numpy()
  for b in range(4):
    for k in range(heads):
      for r in range(3):
        part = slice(4 * k, 4 * k + 4)
        hidden = np.tanh(keys[b // 2, r, part] + asked[b, part])
        expected = hidden @ layer.score_kernel.numpy()[k] + layer.score_bias.numpy()[k]
        np.testing.assert_allclose(scores[b // 2, b % 2, k, r], expected, atol=1e-5)


def test_attend_sums_the_values_of_each_pictures_own_sequences():
  rng = np.random.default_rng(0)
  weights = rng.uniform(size=(2, 3, 2, 4)).astype(np.float32)
  values = rng.normal(size=(2, 4, 5)).astype(np.float32)
  sums = additive_attention.attend(tf.constant(weights), tf.constant(values))
  assert sums.shape == (6, 2, 5)
  for b in range(6):
    for k in range(2):
      expected = sum(weights[b // 3, b % 3, k, r] * values[b // 3, r] for r in range(4))
      np.testing.assert_allclose(sums[b, k], expected, atol=1e-5)
