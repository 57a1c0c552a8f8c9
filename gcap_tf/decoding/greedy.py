"""Greedy decoding: the likeliest word, or the word that most branches name."""

import math

import tensorflow as tf

from gcap_tf.captioners import base, branches
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import constraints, outputs, single


def decode(
  captioner: base.Captioner,
  memory: base.Memory,
  config: decode_config.DecodeConfig,
  seed: tf.Tensor | None = None,
) -> outputs.Decoded:
  """One caption per picture; see `outputs.assemble` for its fields."""

  def choose(logits, rules, t):
    del t
    return _likeliest(logits, rules, config.end_below)

  return single.decode(captioner, memory, config, choose, 1, seed)


def _likeliest(logits: tf.Tensor, rules: constraints.Constraint, end_below: float) -> tf.Tensor:
  """The word that wins after the rules have lowered logits [B, K, V].

  Rules only lower scores. A winner that no rule lowers stays the winner, so the rules are
  applied to all words only at steps that lower a winner.
  """
  word = branches.vote(logits)
  if rules.is_empty:
    return word
  if logits.shape[1] > 1:
    return _allowed(logits, rules, word, end_below)
  return tf.cond(
    tf.reduce_any(rules.lowers(word)),
    lambda: _allowed(logits, rules, word, end_below),
    lambda: word,
  )


def _allowed(
  logits: tf.Tensor, rules: constraints.Constraint, word: tf.Tensor, end_below: float
) -> tf.Tensor:
  """The best word that the rules allow; 0 in place of a spoiling `word` if it is improbable."""
  best = branches.vote(rules.lower(logits))
  if not end_below:
    return best
  scores = branches.mixture(logits)  # [B, V]
  chance = tf.gather(scores, best, batch_dims=1) - tf.reduce_logsumexp(scores, -1)
  return tf.where(rules.spoils(word) & (chance < math.log(end_below)), 0, best)
