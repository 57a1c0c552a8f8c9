"""Greedy decoding: the likeliest word, or the word that most branches name."""

import tensorflow as tf

from gcap_tf.captioners import base, branches
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import outputs, single


def decode(
  captioner: base.Captioner,
  memory: base.Memory,
  config: decode_config.DecodeConfig,
  seed: tf.Tensor | None = None,
) -> outputs.Decoded:
  """One caption per picture; see `outputs.assemble` for its fields."""
  return single.decode(captioner, memory, config, _likeliest, 1, seed)


def _likeliest(logits: tf.Tensor, extra: tf.Tensor | None, t: tf.Tensor) -> tf.Tensor:
  """The word that wins after `extra` [B or 1, 1, V] is added to logits [B, K, V].

  Constraints only lower scores. A winner that no constraint lowers stays the winner, so the
  constraints are added to all words only at steps that lower a winner.
  """
  del t
  if extra is None or logits.shape[1] > 1:
    return branches.vote(logits if extra is None else logits + extra)
  word = branches.vote(logits)
  rows = tf.minimum(tf.range(tf.shape(word)[0]), tf.shape(extra)[0] - 1)
  lowered = tf.gather_nd(extra[:, 0], tf.stack([rows, word], 1))
  return tf.cond(tf.reduce_any(lowered < 0), lambda: branches.vote(logits + extra), lambda: word)
