import collections

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import branches


def _softmax(scores, allowed):
  e = np.where(allowed, np.exp(scores - scores[allowed].max()), 0.0)
  return e / e.sum()


def _attention_by_hand(scores, mask):
  """Branch after branch, region by region, as in the paper."""
  out = np.zeros_like(scores)
  for b in range(len(scores)):
    gone = set()
    for k in range(scores.shape[1]):
      allowed = mask[b] & np.array([r not in gone for r in range(scores.shape[2])])
      if not allowed.any():
        allowed = mask[b]
      out[b, k] = _softmax(scores[b, k], allowed)
      gone.add(int(np.argmax(out[b, k])))
  return out


def test_elimination_matches_a_restatement_with_loops():
  rng = np.random.default_rng(0)
  scores = rng.normal(size=(5, 3, 6)).astype(np.float32)
  mask = rng.uniform(size=(5, 6)) < 0.7
  mask[:, 0] = True
  mask[4, 1:] = False  # One region for three branches: the later two see it again.
  weights = branches.attention_weights(tf.constant(scores), tf.constant(mask), True)
  np.testing.assert_allclose(weights, _attention_by_hand(scores, mask), atol=1e-6)
  np.testing.assert_allclose(weights[4, :, 0], 1.0)


def test_branches_pick_different_regions_only_with_elimination():
  scores = tf.tile(tf.constant([[[3.0, 2.0, 1.0]]]), [1, 3, 1])
  mask = tf.ones([1, 3], tf.bool)
  with_it = tf.argmax(branches.attention_weights(scores, mask, True), -1)
  without = tf.argmax(branches.attention_weights(scores, mask, False), -1)
  assert with_it.numpy().tolist() == [[0, 1, 2]]
  assert without.numpy().tolist() == [[0, 0, 0]]


def test_mixture_is_the_mean_of_the_distributions():
  logits = tf.constant(np.random.default_rng(0).normal(size=(2, 3, 5)), tf.float32)
  mean = tf.reduce_mean(tf.nn.softmax(logits), 1)
  np.testing.assert_allclose(tf.nn.softmax(branches.mixture(logits)), mean, atol=1e-6)
  np.testing.assert_allclose(tf.exp(branches.mixture(logits)), mean, atol=1e-6)


def _vote_by_hand(logits):
  """Most votes; then larger summed probability; then the lowest branch."""
  probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
  named = [int(row.argmax()) for row in logits]
  votes = collections.Counter(named)
  best = max(
    range(len(named)), key=lambda k: (votes[named[k]], probabilities[:, named[k]].sum(), -k)
  )
  return named[best]


def test_vote_matches_a_restatement_with_loops():
  rng = np.random.default_rng(1)
  logits = (2 * rng.normal(size=(200, 4, 5))).astype(np.float32)
  expected = [_vote_by_hand(row) for row in logits.astype(np.float64)]
  assert branches.vote(tf.constant(logits)).numpy().tolist() == expected


def test_a_tie_goes_to_the_larger_summed_probability():
  confident, doubtful = [0.0, 5.0, 0.0], [1.0, 0.0, 0.0]
  logits = tf.constant([[doubtful, confident]])
  assert int(branches.vote(logits)[0]) == 1


def test_winners_are_those_who_named_the_word_or_else_the_first():
  logits = tf.one_hot([[1, 2, 1], [0, 0, 2]], 3)
  won = branches.winners(logits, tf.constant([1, 1]))
  assert won.numpy().tolist() == [[True, False, True], [True, False, False]]


@pytest.mark.parametrize(("size", "sizes"), [(6, [3, 3]), (7, [4, 3])])
def test_heads_read_their_slices_of_a_region(size, sizes):
  rng = np.random.default_rng(1)
  assert branches.head_sizes(size, 2) == sizes
  scores = rng.normal(size=(2, 3, 2, 4)).astype(np.float32)  # [I, n, heads, R]
  regions = rng.normal(size=(2, 4, size)).astype(np.float32)
  mask = np.array([[True] * 4, [True, True, False, False]])
  logs, weights, context = branches.join_heads(*map(tf.constant, (scores, mask, regions)))
  for i in range(2):
    for n in range(3):
      alpha = [_softmax(scores[i, n, k], mask[i]) for k in range(2)]
      np.testing.assert_allclose(weights[i, n, 0], (alpha[0] + alpha[1]) / 2, atol=1e-6)
      expected = [
        sum(alpha[k][r] * regions[i, r, sizes[0] * k + d] for r in range(4))
        for k in range(2)
        for d in range(sizes[k])
      ]
      np.testing.assert_allclose(context[3 * i + n, 0], expected, atol=1e-5)
  np.testing.assert_allclose(tf.nn.softmax(logs), weights, atol=1e-6)
