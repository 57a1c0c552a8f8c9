import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import localizer


def test_there_is_none_of_kind_none():
  assert localizer.make("none", 4, 5, 6) is None


@pytest.mark.parametrize("kind, weights", [("linear", 2), ("mlp", 4), ("hidden", 2)])
def test_queries_have_the_attention_size(kind, weights):
  layer = localizer.make(kind, 4, 5, 6)
  h1 = tf.ones([2, 3, 5]) if kind == "hidden" else None
  assert layer(tf.ones([2, 3, 4]), h1).shape == (2, 3, 6)
  assert len(layer.trainable_variables) == weights


def test_a_localizer_of_hidden_states_needs_them():
  with pytest.raises(ValueError, match="h1"):
    localizer.make("hidden", 4, 5, 6)(tf.ones([2, 3, 4]))


def test_localize_matches_a_restatement_with_loops():
  rng = np.random.default_rng(0)
  steps, pictures, captions, regions = 2, 2, 3, 4
  query = rng.normal(size=(steps, pictures * captions, 5)).astype(np.float32)
  keys = rng.normal(size=(pictures, regions, 5)).astype(np.float32)
  values = rng.normal(size=(pictures, regions, 7)).astype(np.float32)
  mask = np.array([[True, True, False, True], [True] * 4])
  context, attention = localizer.localize(*map(tf.constant, (query, keys, values, mask)))
  for t in range(steps):
    for b in range(pictures * captions):
      i = b // captions
      weights = np.array([np.exp(query[t, b] @ keys[i, r]) * mask[i, r] for r in range(regions)])
      weights /= weights.sum()
      np.testing.assert_allclose(attention[t, b], weights, atol=1e-5)
      np.testing.assert_allclose(context[t, b], weights @ values[i], atol=1e-5)
