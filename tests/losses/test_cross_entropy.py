import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.losses import cross_entropy
from tests.losses import numeric

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(2, 3, 5)).astype(np.float32)
TOKENS = np.array([[1, 4, 0], [2, 0, 0]], np.int32)
MASK = np.array([[True, True, True], [True, True, False]])


def by_hand(smoothing):
  """Sum over words of KL(target || p), word by word, over their number."""
  total, words = 0.0, 0
  for b in range(2):
    for t in range(3):
      if MASK[b, t]:
        p = np.exp(LOGITS[b, t]) / np.exp(LOGITS[b, t]).sum()
        target = np.full(5, smoothing / 4)
        target[TOKENS[b, t]] = 1 - smoothing
        total += sum(q * np.log(q / p[v]) for v, q in enumerate(target) if q > 0)
        words += 1
  return total / words


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_mean_over_words_matches_a_restatement_with_loops(smoothing):
  found = cross_entropy.token_mean(*map(tf.constant, (LOGITS, TOKENS, MASK)), smoothing)
  np.testing.assert_allclose(found, by_hand(smoothing), rtol=1e-4)
  packed = cross_entropy.packed_token_mean(
    tf.boolean_mask(LOGITS, MASK), tf.boolean_mask(TOKENS, MASK), smoothing
  )
  np.testing.assert_allclose(packed, by_hand(smoothing), rtol=1e-4)


def test_smoothed_loss_is_zero_at_its_target():
  target = np.array([0.9, 0.05, 0.05], np.float32)
  loss = cross_entropy.token_loss(tf.constant(np.log(target)), tf.constant(0), 0.1)
  np.testing.assert_allclose(loss, 0.0, atol=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_gradient_agrees_with_differences(smoothing):
  numeric.check_gradient(
    lambda x: cross_entropy.token_mean(x, tf.constant(TOKENS), tf.constant(MASK), smoothing),
    LOGITS,
  )


def test_no_word_gives_zero_and_no_nan():
  none = tf.zeros_like(tf.constant(MASK))
  logits = tf.Variable(LOGITS)
  with tf.GradientTape() as tape:
    loss = cross_entropy.token_mean(logits, tf.constant(TOKENS), none)
  assert float(loss) == 0.0
  assert not np.isnan(tape.gradient(loss, logits)).any()
  assert float(cross_entropy.packed_token_mean(tf.zeros([0, 5]), tf.zeros([0], tf.int32))) == 0.0
