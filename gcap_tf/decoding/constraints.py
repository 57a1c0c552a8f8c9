"""Rules that raise or lower words before one is chosen.

Every rule adds a number to the log-probabilities of the next word, so the same rules work for
greedy choice, sampling, beam search and voting branches. `repeats` has the rules against saying
a word again. A rule names ids, not scores of all V words, since it concerns few of them.
"""

import dataclasses

import numpy as np
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
  """The rules for one word of every sequence; slots without a word hold id 0 and cost 0.

  Attributes:
    fixed: [V], at most 0, what each id loses whatever was said before; None if nothing. One
      row of scores for all sequences costs less than ids.
    words: int32 [B, M] ids; an id may come more than once. None if there is no such rule.
    costs: float32 [B, M], at most 0, what each id loses.
    repeats: bool [M], whether a slot is there to prevent a repeat.
    after_link: bool [B], where no word of `bare_nouns` may come; or None.
    bare_nouns: bool [V].
  """

  fixed: np.ndarray | None = None
  words: tf.Tensor | None = None
  costs: tf.Tensor | None = None
  repeats: np.ndarray | None = None
  after_link: tf.Tensor | None = None
  bare_nouns: np.ndarray | None = None

  @property
  def is_empty(self) -> bool:
    return self.words is None and self.fixed is None

  def lower(self, scores: tf.Tensor) -> tf.Tensor:
    """Scores [B, K, V] after the rules."""
    if self.fixed is not None:
      scores += self.fixed
    if self.words is None:
      return scores
    branches, size, slots = scores.shape[1], scores.shape[2], self.words.shape[1]
    words, costs = self.words, self.costs
    if branches > 1:
      words, costs = tf.repeat(words, branches, axis=0), tf.repeat(costs, branches, axis=0)
    rows = tf.repeat(tf.range(tf.shape(words)[0]), slots)
    index = tf.stack([rows, tf.reshape(words, [-1])], 1)
    flat = tf.reshape(scores, [-1, size])
    lowered = tf.tensor_scatter_nd_add(flat, index, tf.reshape(costs, [-1]))
    lowered = tf.reshape(lowered, [-1, branches, size])
    if self.after_link is None:
      return lowered
    cost = tf.where(self.bare_nouns, FORBIDDEN, 0.0)

    def without_bare_nouns() -> tf.Tensor:
      return lowered + tf.cast(self.after_link, tf.float32)[:, tf.newaxis, tf.newaxis] * cost

    return tf.cond(tf.reduce_any(self.after_link), without_bare_nouns, lambda: lowered)

  def lowers(self, words: tf.Tensor) -> tf.Tensor:
    """Whether a rule lowers each of words [B]: bool [B]."""
    found = self._is_bare(words)
    if self.fixed is not None:
      found |= tf.gather(self.fixed < 0, words)
    if self.words is not None:
      found |= tf.reduce_any((self.words == words[:, tf.newaxis]) & (self.costs < 0), 1)
    return found

  def is_repeat(self, words: tf.Tensor) -> tf.Tensor:
    """Whether each of words [B] would be a repeat: bool [B]."""
    if self.words is None:
      return tf.zeros(tf.shape(words), tf.bool)
    found = (self.words == words[:, tf.newaxis]) & (self.costs < 0)
    return tf.reduce_any(found & self.repeats, 1)

  def _is_bare(self, words: tf.Tensor) -> tf.Tensor:
    if self.after_link is None:
      return tf.zeros(tf.shape(words), tf.bool)
    return self.after_link & tf.gather(self.bare_nouns, words)


def constraint(
  config: decode_config.DecodeConfig, t: tf.Tensor, history: tf.Tensor, size: int
) -> Constraint:
  """All rules for word t.

  Args:
    config: the rules.
    t: position of the word to choose, int32 scalar.
    history: words so far, int32 [B, max_length], 0 from t on.
    size: V.
  """
  rules: list[tuple[tf.Tensor, tf.Tensor]] = []
  row, fixed = tf.zeros_like(history[:, :1]), None
  if config.unknown != "allow":
    fixed = np.zeros(size, np.float32)
    fixed[size - 1] = SUPPRESSED if config.unknown == "suppress" else FORBIDDEN
  if config.min_length > 0:
    early = tf.cast(t < config.min_length, tf.float32)
    rules.append((row, tf.fill(tf.shape(row), FORBIDDEN * early)))
  if config.bad_endings or config.determiners:
    bad = tf.cast((t > 0) & _ends_badly(config, t, history, size), tf.float32)
    rules.append((row, FORBIDDEN * bad[:, tf.newaxis]))
  if config.block_trigrams:
    rules.append(_trigrams(t, history))
  others = sum(words.shape[1] for words, _ in rules)
  repeated = repeats.forbidden(config, t, history, size)
  if repeated is not None:
    rules.append((repeated, tf.where(repeated > 0, FORBIDDEN, 0.0)))
  if config.bare_nouns and not rules:
    rules.append((row, tf.zeros_like(row, tf.float32)))
  if not rules:
    return Constraint(fixed)
  words, costs = (tf.concat(parts, 1) for parts in zip(*rules, strict=True))
  is_repeat = np.arange(words.shape[1]) >= others
  if not config.bare_nouns:
    return Constraint(fixed, words, costs, is_repeat)
  last = tf.where(t > 0, history[:, tf.maximum(t - 1, 0)], 0)
  after_link = tf.gather(repeats.is_one_of(config.links, size), last)
  bare_nouns = repeats.is_one_of(config.bare_nouns, size)
  return Constraint(fixed, words, costs, is_repeat, after_link, bare_nouns)


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


def _trigrams(t: tf.Tensor, history: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """For each earlier s with words (s, s+1) equal to the last two: lowers word s+2."""
  first, second, third = history[:, :-2], history[:, 1:-1], history[:, 2:]
  last = history[:, tf.maximum(t - 2, 0)], history[:, tf.maximum(t - 1, 0)]
  position = tf.range(tf.shape(third)[1])
  seen = (first == last[0][:, tf.newaxis]) & (second == last[1][:, tf.newaxis])
  seen &= (position + 2 < t)[tf.newaxis]
  return third, TRIGRAM * tf.cast(seen, tf.float32)
