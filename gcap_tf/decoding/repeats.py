"""Words that a caption must not say again, found from the words so far.

    immediate     the last word: "a a"; the word before "and": "white and white"
    n-grams       a word that would end an n-gram which the caption already has
    word groups   every form of a noun or verb that was said ("dog", "dogs"); with `told_apart`,
                  unless the last word distinguishes the two

A modifier ("another", "other", a number, an adjective) distinguishes things if another word stood
before the first: "a red shirt and a blue shirt". 5,000 human captions (val of Flickr30k Entities)
repeat a noun in 7.5 % of cases, a verb in 1.7 %, a trigram in 0.9 %; 46 % of the repeated nouns
are distinguished so. Captions of up to 12 words, which captioners write, repeat a noun in 2.3 % and
a verb in 0.4 %. One human caption in 5,000 says a word twice in a row.

A rule gives ids [B, M], at most a few for each position, not scores [B, V]: greedy decoding
compares its choice with them, and touches the scores only if a choice is forbidden. Id 0, the end
of a caption, is never forbidden; it fills the slots without a word.
"""

import functools

import numpy as np
import tensorflow as tf

from gcap_tf.decoding import config as decode_config


def forbidden(
  config: decode_config.DecodeConfig, t: tf.Tensor, history: tf.Tensor, size: int
) -> tf.Tensor | None:
  """Ids of the words that must not come next, int32 [B, M]; None if nothing is forbidden.

  Args:
    config: the rules.
    t: position of the word to choose, int32 scalar.
    history: words so far, int32 [B, T], 0 from t on.
    size: V.
  """
  rules = []
  if config.decoding_constraint:
    rules.append(_word_at(history, t - 1)[:, tf.newaxis])
  if config.joins:
    joined = tf.gather(is_one_of(config.joins, size), _word_at(history, t - 1))
    rules.append(tf.where(joined, _word_at(history, t - 2), 0)[:, tf.newaxis])
  if config.no_repeat_ngram:
    rules.append(_ngram_ends(config.no_repeat_ngram, t, history))
  if config.word_groups:
    rules.append(_said_words(config, t, history, size))
  return tf.concat(rules, 1) if rules else None


def _word_at(history: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
  """The words at a position, [B]; 0 before the first."""
  found = tf.gather(history, tf.maximum(position, 0), axis=1)
  return tf.where(position >= 0, found, 0)


def _ngram_ends(n: int, t: tf.Tensor, history: tf.Tensor) -> tf.Tensor:
  """For each earlier n-1 words equal to the last n-1: the word that followed, [B, T - n + 1]."""
  count = history.shape[1] - n + 1
  if count < 1:
    return history[:, :0]
  seen = tf.range(n - 1, n - 1 + count)[tf.newaxis] < t
  for offset in range(n - 1):
    last = _word_at(history, t - (n - 1) + offset)
    seen &= history[:, offset : offset + count] == last[:, tf.newaxis]
  return tf.where(seen, history[:, n - 1 :], 0)


def _said_words(
  config: decode_config.DecodeConfig, t: tf.Tensor, history: tf.Tensor, size: int
) -> tf.Tensor:
  """Every form of the words so far that the last word does not tell apart, [B, T * F]."""
  forms = tf.gather(_form_table(config.word_groups, size), history)  # [B, T, F]
  if config.told_apart:
    last = _word_at(history, t - 1)[:, tf.newaxis]  # [B, 1]
    distinct = tf.gather(is_one_of(config.modifiers, size), last)
    before = tf.pad(history[:, :-1], [[0, 0], [1, 0]])  # the word before each word
    forms = tf.where((distinct & (last != before))[..., tf.newaxis], 0, forms)
  return tf.reshape(forms, [-1, forms.shape[1] * forms.shape[2]])


@functools.lru_cache(maxsize=8)
def _form_table(groups: tuple[tuple[int, ...], ...], size: int) -> np.ndarray:
  """[V, F]: ids of the forms of each word that is in a group, filled up with 0."""
  table = np.zeros([size, max(map(len, groups))], np.int32)
  for group in groups:
    table[list(group), : len(group)] = group
  return table


@functools.lru_cache(maxsize=8)
def is_one_of(words: tuple[int, ...], size: int) -> np.ndarray:
  """Whether each id is in `words`, bool [V]."""
  found = np.zeros([size], bool)
  found[list(words)] = True
  return found
