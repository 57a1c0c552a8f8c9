"""Tests of gcap_tf/training/word_loss.py."""

import types

import numpy as np
import tensorflow as tf

from gcap_tf.training import word_loss

TOKENS = tf.constant([[1, 2, 0], [2, 0, 0]])
MASK = tf.constant([[True, True, True], [True, True, False]])


def test_hidden_states_of_words_alone_become_logits():
  kernel = tf.constant(np.random.default_rng(0).normal(size=(4, 3)), tf.float32)
  hidden = tf.constant(np.random.default_rng(1).normal(size=(2, 3, 2, 4)), tf.float32)
  seen = []

  def word_logits(states, seed):
    seen.append(states.shape)
    return states @ kernel

  model = types.SimpleNamespace(word_logits=word_logits)
  found = word_loss.word_loss(model, {"hidden": hidden}, TOKENS, MASK, None)
  assert seen == [(5, 2, 4)]  # Five words, two branches; the padding is left out.
  total = 0.0
  for row, slot in np.argwhere(MASK.numpy()):
    for branch in range(2):
      logits = hidden[row, slot, branch].numpy() @ kernel.numpy()
      total -= np.log(np.exp(logits)[TOKENS[row, slot]] / np.exp(logits).sum())
  np.testing.assert_allclose(found, total / 10, rtol=1e-5)


def test_logits_are_taken_as_they_are():
  found = word_loss.word_loss(None, {"logits": tf.zeros([2, 3, 3])}, TOKENS, MASK, None)
  np.testing.assert_allclose(found, np.log(3.0), rtol=1e-6)
