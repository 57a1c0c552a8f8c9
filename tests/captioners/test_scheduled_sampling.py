"""Tests of gcap_tf/captioners/scheduled_sampling.py, in the captioners that use it."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import updown
from tests import captioner_harness

BATCH = captioner_harness.make_batch()
SEED = tf.constant([1, 2])


def make(**options):
  captioner_harness.fix_start()
  sizes = {"embedding_size": 8, "hidden_size": 9, "attention_size": 6, "feature_size": 7}
  return updown.UpDownCaptioner(updown.UpDownConfig(vocabulary_size=11, **(sizes | options)))


def test_no_chance_of_sampling_is_teacher_forcing():
  model = make()
  memory = model.encode(BATCH, SEED)
  plain = model.teacher_force(memory, BATCH["tokens"], SEED)
  never = model.teacher_force(memory, BATCH["tokens"], SEED, scheduled_sampling=tf.constant(0.0))
  np.testing.assert_allclose(never["logits"], plain["logits"], atol=1e-5)


def test_certain_sampling_ignores_all_words():
  model = make()
  memory = model.encode(BATCH, SEED)
  first, second = (
    model.teacher_force(memory, tokens, SEED, scheduled_sampling=tf.constant(1.0))["logits"]
    for tokens in (BATCH["tokens"], tf.zeros_like(BATCH["tokens"]))
  )
  np.testing.assert_allclose(first, second, atol=1e-6)


def test_sampling_replaces_about_the_asked_share_of_words():
  """The drawn word is always 5, the gold word always 3: count who was fed."""
  model = make(dropout=0.0)
  model.word_output.bias.assign(tf.one_hot(5, 11) * 1e3)
  tokens = tf.fill([300, 8], 3)
  batch = {key: tf.repeat(BATCH[key][1:2], 1, 0) for key in BATCH}
  memory = model.encode(batch)
  hidden = model.teacher_force(memory, tokens, SEED, scheduled_sampling=tf.constant(0.3))["hidden"]
  gold = model.teacher_force(memory, tokens[:1], SEED)["hidden"]
  same = np.abs(hidden[:, 1] - gold[:, 1]).max((1, 2)) < 1e-6
  assert 0.6 < same.mean() < 0.8


def test_sampling_without_a_seed_is_refused():
  model = make()
  with pytest.raises(ValueError, match="seed"):
    model.teacher_force(model.encode(BATCH), BATCH["tokens"], scheduled_sampling=tf.constant(0.5))
