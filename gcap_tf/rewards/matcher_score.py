"""Scores generated captions with a matcher (Zhou et al., CVPR 2020, arXiv:2004.00390, §3.3).

The graph maps the captioner's ids to the matcher's ids of the same words: `w1 .. wn 0 0`
becomes `<start> w1 .. wn <end>`. The matcher's weights are fixed, and it has no dropout.

POS-SCAN scores only nouns (or the parts of speech of its option `tags`), so it needs those of
generated captions. There are two ways: a table in the graph, in which a word is a noun if most
of its occurrences in the tagged training captions are nouns ("rides" in "two rides" is missed);
or the tagger, which reads every caption (about 28,000 words per second, outside the graph).
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.matchers import base
from gcap_tf.text import tagging
from gcap_tf.text import vocabulary as vocabularies

_LEAST_KNOWN = 0.5


class MatcherScore:
  """Scores and attention of a matcher on captions in a captioner's ids.

  Args:
    matcher: any matcher.
    words: the matcher's vocabulary.
    vocabulary: the captioner's vocabulary.
    nouns: bool [V], which of the captioner's words the matcher scores; used without a tagger.
    tagger: finds the words of each caption that the matcher scores.
    final_period: adds a period to every caption. Departure: the released program does so,
      because its matcher was trained with punctuation; our matchers are not.
    where: the name of the matcher in messages.
  """

  def __init__(
    self,
    matcher: base.Matcher,
    words: vocabularies.Vocabulary,
    vocabulary: vocabularies.Vocabulary,
    nouns: np.ndarray,
    tagger: tagging.Tagger | None = None,
    final_period: bool = False,
    where: str = "the matcher",
  ):
    self.matcher, self._vocabulary, self._tagger = matcher, vocabulary, tagger
    self._ids = translation(words, vocabulary, where)
    self._nouns = np.array(nouns, bool) & (np.arange(vocabulary.size) != vocabulary.unknown_id)
    self._tags = scored_tags(matcher)
    self._start, self._end = words.ids["<start>"], words.ids["<end>"]
    self._period = [words.ids.get(".", words.unknown_id)] if final_period else []

  def captions(self, tokens: tf.Tensor) -> base.Batch:
    """Captions in the form of a matcher's batch; `tokens` int32 [B, T] end with 0.

    Returns:
      `tokens`, `token_mask` and `noun_mask`, [B, T + 2] (+ 1 with a final period).
    """
    length = tf.reduce_sum(tf.cast(tokens > 0, tf.int32), 1, keepdims=True)  # [B, 1]
    ends = [*self._period, self._end]
    rows, room = tf.shape(tokens)[0], tf.shape(tokens)[1]
    words = tf.gather(tf.constant(self._ids, tf.int32), tokens)
    words = tf.pad(words, [[0, 0], [0, len(ends)]])
    place = tf.range(room + len(ends)) - length  # [B, T + ends], 0 after the last word
    behind = (place >= 0) & (place < len(ends))
    closed = tf.gather(tf.constant(ends), tf.clip_by_value(place, 0, len(ends) - 1))
    words = tf.where(behind, closed, tf.where(place < 0, words, 0))
    start = tf.fill([rows, 1], self._start)
    nouns = tf.pad(self.noun_mask(tokens), [[0, 0], [1, len(ends)]])
    return {
      "tokens": tf.concat([start, words], 1),
      "token_mask": tf.pad(place < len(ends), [[0, 0], [1, 0]], constant_values=True),
      "noun_mask": nouns,
    }

  def noun_mask(self, tokens: tf.Tensor) -> tf.Tensor:
    """Nouns of captions, bool [B, T]; UNK is not a noun."""
    if self._tagger is None:
      return tf.gather(tf.constant(self._nouns), tokens) & (tokens > 0)
    found = tf.numpy_function(self._tag, [tokens], tf.bool, stateful=False)
    return tf.ensure_shape(found, tokens.shape)

  def score(self, images: base.Images, captions: base.Captions, owners: tf.Tensor) -> tf.Tensor:
    """S(I, y) of each caption with its picture, [B].

    Args:
      images: from the matcher's `encode_images`.
      captions: from its `encode_captions`, for `captions(tokens)`.
      owners: int32 [B], the picture of each caption.
    """
    rows = tf.range(tf.shape(owners)[0])
    return self.matcher.pair_similarity(images, captions, owners, rows)

  def attention(self, images: base.Images, captions: base.Captions, owners: tf.Tensor) -> tf.Tensor:
    """Attention of the caption's words, [B, T, R], without <start>, period and <end>."""
    attention = self.matcher.attention(base.take(images, owners), captions)
    return attention[:, 1 : -(1 + len(self._period))]

  def _tag(self, tokens: np.ndarray) -> np.ndarray:
    sentences = [self._vocabulary.decode(row) for row in tokens]
    nouns = np.zeros(tokens.shape, bool)
    for n, tags in enumerate(self._tagger.tag(sentences)):
      nouns[n, : len(tags)] = [tag in self._tags for tag in tags]
    return nouns & (tokens != self._vocabulary.unknown_id)


def scored_tags(matcher: base.Matcher) -> frozenset[str]:
  """Universal parts of speech of the words that a matcher scores; nouns if it scores all."""
  return frozenset(matcher.noun_tags) or tagging.NOUN_TAGS


def translation(
  words: vocabularies.Vocabulary, vocabulary: vocabularies.Vocabulary, where: str
) -> Sequence[int]:
  """The matcher's id of every word of the captioner; <unk> for words that it does not know.

  Raises a `UserError` if the two share fewer than half of the words of the smaller vocabulary: a
  captioner that learned language from more captions may know many more words.
  """
  if words.layout != "matcher":
    raise errors.UserError(f"{where} has a captioner's vocabulary, not a matcher's")
  table = [words.ids.get(word, words.unknown_id) for word in vocabulary.words]
  known = sum(word in words.ids for word in vocabulary.words[1:-1])
  if known < _LEAST_KNOWN * (min(words.size, vocabulary.size) - 2):
    raise errors.UserError(
      f"{where} knows {known} of the captioner's {vocabulary.size - 2} words; "
      "use a matcher that was trained on captions of the same dataset"
    )
  table[0] = words.ids["<pad>"]
  return table
