"""Tests of gcap_tf/captioners/likelihood.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import catalog, likelihood
from tests import captioner_harness

TOKENS = tf.constant([[3, 4, 0, 0], [2, 2, 2, 5], [0, 0, 0, 0]])


def test_words_and_one_end_count():
  expected = [[True, True, True, False], [True] * 4, [True, False, False, False]]
  np.testing.assert_array_equal(likelihood.emitted(TOKENS), expected)


def test_columns_behind_the_longest_caption_are_cut():
  assert likelihood.trim(TOKENS).shape == (3, 4)
  assert likelihood.trim(TOKENS[::2]).shape == (2, 3)
  assert likelihood.trim(TOKENS[2:]).shape == (1, 1)


@pytest.mark.parametrize("name", ["updown", "distributed", "adaptive", "neuraltalk2"])
def test_log_probabilities_are_those_of_the_steps(name):
  captioner_harness.fix_start()
  batch = captioner_harness.make_batch()
  cls = catalog.CAPTIONERS.get(name)
  sizes = {"embedding_size": 8, "hidden_size": 9, "feature_size": 7, "vocabulary_size": 11}
  model = cls(cls.Config(**sizes))
  tokens, seed = batch["tokens"], captioner_harness.SEED
  memory = model.encode(batch, seed)
  state = tf.nest.map_structure(lambda x: tf.repeat(x, 2, 0), model.initial_state(memory))
  expected, before = np.zeros(tokens.shape[0]), tf.zeros_like(tokens[:, 0])
  for t in range(tokens.shape[1]):
    now = tf.random.experimental.stateless_fold_in(seed, t)
    emitted = model.step(memory, state, before, now)
    log_probs = tf.nn.log_softmax(emitted["logits"]).numpy()
    for row, word in enumerate(tokens[:, t].numpy()):
      expected[row] += log_probs[row, word] * bool(batch["token_mask"][row, t])
    state, before = emitted["state"], tokens[:, t]
  found = likelihood.caption_log_probs(model, memory, tokens, seed)
  np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_a_mask_says_which_words_count():
  captioner_harness.fix_start()
  batch = captioner_harness.make_batch()
  cls = catalog.CAPTIONERS.get("neuraltalk2")
  model = cls(cls.Config(vocabulary_size=11, feature_size=7, embedding_size=8, hidden_size=9))
  memory, tokens = model.encode(batch), batch["tokens"]
  words = likelihood.caption_log_probs(model, memory, tokens, mask=tokens > 0)
  ends = likelihood.caption_log_probs(
    model, memory, tokens, mask=batch["token_mask"] & (tokens == 0)
  )
  whole = likelihood.caption_log_probs(model, memory, tokens)
  np.testing.assert_allclose(words + ends, whole, rtol=1e-5)
