"""Rules that raise or lower words before one is chosen.

Every rule adds a number to the log-probabilities of the next word, so the same rules work for
greedy choice, sampling, beam search and voting branches.
"""

import functools

import tensorflow as tf

from gcap_tf.decoding import config as decode_config
from gcap_tf.text import vocabulary as vocabularies

SUPPRESSED = -1000.0
FORBIDDEN = -1e9
TRIGRAM = -2.0 * 0.693  # ln(1/2), twice, to the three digits of the official code.
BAD_ENDINGS = (
  *("with", "in", "on", "of", "a", "at", "to", "for", "an"),
  *("this", "his", "her", "that", "the"),
)


def bad_ending_ids(vocabulary: vocabularies.Vocabulary) -> tuple[int, ...]:
  """Ids of the words that `remove_bad_endings` of the official code lists."""
  return tuple(vocabulary.ids[word] for word in BAD_ENDINGS if word in vocabulary.ids)


def penalty(
  config: decode_config.DecodeConfig, t: tf.Tensor, history: tf.Tensor, size: int
) -> tf.Tensor | None:
  """The sum of all rules for word t, at most 0; None if there is no rule.

  Args:
    config: the rules.
    t: position of the word to choose, int32 scalar.
    history: words so far, int32 [B, max_length], valid before t.
    size: V.

  Returns:
    float32 [B, V], or [1, V] if no rule depends on the words so far.
  """
  rules = []
  if config.unknown != "allow":
    cost = SUPPRESSED if config.unknown == "suppress" else FORBIDDEN
    rules.append(cost * tf.one_hot([size - 1], size))
  if config.min_length > 0:
    early = tf.cast(t < config.min_length, tf.float32)
    rules.append(FORBIDDEN * early * tf.one_hot([0], size))
  if config.decoding_constraint or config.bad_endings:
    started = tf.cast(t > 0, tf.float32)
    previous = history[:, tf.maximum(t - 1, 0)]
    if config.decoding_constraint:
      rules.append(FORBIDDEN * started * tf.one_hot(previous, size))
    if config.bad_endings:
      bad = tf.reduce_any(previous[:, tf.newaxis] == tf.constant([config.bad_endings]), -1)
      cost = FORBIDDEN * started * tf.cast(bad, tf.float32)
      rules.append(cost[:, tf.newaxis] * tf.one_hot([0], size))
  if config.block_trigrams:
    rules.append(_trigram_penalty(t, history, size))
  return functools.reduce(tf.add, rules) if rules else None


def _trigram_penalty(t: tf.Tensor, history: tf.Tensor, size: int) -> tf.Tensor:
  """For each earlier s with words (s, s+1) equal to the last two: lowers word s+2."""
  first, second, third = history[:, :-2], history[:, 1:-1], history[:, 2:]
  last = history[:, tf.maximum(t - 2, 0)], history[:, tf.maximum(t - 1, 0)]
  position = tf.range(tf.shape(third)[1])
  seen = (first == last[0][:, tf.newaxis]) & (second == last[1][:, tf.newaxis])
  seen &= (position + 2 < t)[tf.newaxis]
  # A caption has few words: a one-hot sum over positions would need [B, T, V].
  rows = tf.repeat(tf.range(tf.shape(history)[0]), tf.shape(third)[1])
  index = tf.stack([rows, tf.reshape(third, [-1])], 1)
  cost = TRIGRAM * tf.reshape(tf.cast(seen, tf.float32), [-1])
  return tf.scatter_nd(index, cost, [tf.shape(history)[0], size])
