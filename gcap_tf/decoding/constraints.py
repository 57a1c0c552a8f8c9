"""Rules that raise or lower words before one is chosen.

Every rule adds a number to the log-probabilities of the next word, so the same rules work for
greedy choice, sampling, beam search and voting branches. `repeats` has the rules against saying
a word again.
"""

import dataclasses
import functools

import tensorflow as tf

from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import repeats
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


@dataclasses.dataclass(frozen=True)
class Constraint:
  """The rules for one word of every sequence.

  Attributes:
    penalty: float32 [B or 1, V], at most 0; None if there is none.
    forbidden: int32 [B, M] ids of forbidden words, 0 in slots without one; or None.
  """

  penalty: tf.Tensor | None
  forbidden: tf.Tensor | None

  @property
  def is_empty(self) -> bool:
    return self.penalty is None and self.forbidden is None

  def lower(self, scores: tf.Tensor) -> tf.Tensor:
    """Scores [B, K, V] after the rules."""
    if self.penalty is not None:
      scores += self.penalty[:, tf.newaxis]
    if self.forbidden is None:
      return scores
    rows, branches, slots = tf.shape(scores)[0], scores.shape[1], self.forbidden.shape[1]
    words = tf.repeat(self.forbidden, branches, axis=0)  # [B * K, M]
    places = tf.repeat(tf.range(rows * branches), slots)
    index = tf.stack([places, tf.reshape(words, [-1])], 1)
    cost = tf.where(tf.reshape(words, [-1]) > 0, FORBIDDEN, 0.0)
    flat = tf.reshape(scores, [-1, scores.shape[2]])
    lowered = tf.tensor_scatter_nd_add(flat, index, cost)
    return tf.reshape(lowered, [-1, branches, scores.shape[2]])

  def lowers(self, words: tf.Tensor) -> tf.Tensor:
    """Whether a rule lowers each of words [B]: bool [B]."""
    found = self.forbids(words)
    if self.penalty is not None:
      rows = tf.minimum(tf.range(tf.shape(words)[0]), tf.shape(self.penalty)[0] - 1)
      found |= tf.gather_nd(self.penalty, tf.stack([rows, words], 1)) < 0
    return found

  def forbids(self, words: tf.Tensor) -> tf.Tensor:
    """Whether each of words [B] would be a repeat: bool [B]."""
    if self.forbidden is None:
      return tf.zeros(tf.shape(words), tf.bool)
    words = words[:, tf.newaxis]
    return tf.reduce_any((self.forbidden == words) & (words > 0), 1)


def constraint(
  config: decode_config.DecodeConfig, t: tf.Tensor, history: tf.Tensor, size: int
) -> Constraint:
  """All rules for word t; see `penalty`."""
  return Constraint(penalty(config, t, history, size), repeats.forbidden(config, t, history, size))


def penalty(
  config: decode_config.DecodeConfig, t: tf.Tensor, history: tf.Tensor, size: int
) -> tf.Tensor | None:
  """The sum of the rules that score words, at most 0; None if there is no such rule.

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
  if config.bad_endings or config.determiners:
    bad = _ends_badly(config, t, history, size)
    cost = FORBIDDEN * tf.cast((t > 0) & bad, tf.float32)
    rules.append(cost[:, tf.newaxis] * tf.one_hot([0], size))
  if config.block_trigrams:
    rules.append(_trigram_penalty(t, history, size))
  return functools.reduce(tf.add, rules) if rules else None


def _ends_badly(config, t, history, size) -> tf.Tensor:
  """Whether the caption must not end here, bool [B]."""
  last = history[:, tf.maximum(t - 1, 0)]
  before = tf.where(t > 1, history[:, tf.maximum(t - 2, 0)], 0)
  return _is_open(config, last, before, size)


def drop_open_phrase(config: decode_config.DecodeConfig, tokens: tf.Tensor, size: int) -> tf.Tensor:
  """Captions [B, T] without the words at their end that `bad_endings` and `determiners` forbid."""
  before = tf.pad(tokens[:, :-1], [[0, 0], [1, 0]])
  closed = (tokens > 0) & ~_is_open(config, tokens, before, size)
  positions = tf.range(1, tokens.shape[1] + 1)[tf.newaxis]
  length = tf.reduce_max(tf.where(closed, positions, 0), 1, keepdims=True)
  return tf.where(positions <= length, tokens, 0)


def _is_open(config, words: tf.Tensor, before: tf.Tensor, size: int) -> tf.Tensor:
  """Whether a caption must not end with each of `words`, which follow those of `before`."""
  bad = tf.gather(repeats.is_one_of((*config.bad_endings, *config.determiners), size), words)
  if not config.determiners:
    return bad
  modifies = tf.gather(repeats.is_one_of(config.modifiers, size), words)
  # "in white" ends a caption, "in a white" and "in a big white" do not.
  opens = repeats.is_one_of((*config.modifiers, *config.determiners), size)
  return bad | (modifies & tf.gather(opens, before))


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
