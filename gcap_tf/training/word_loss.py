"""Cross entropy of captions, word by word, from every branch of a captioner."""

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.losses import cross_entropy


def word_loss(
  model: base.Captioner,
  outputs: dict[str, tf.Tensor],
  tokens: tf.Tensor,
  word_mask: tf.Tensor,
  seed: tf.Tensor,
  label_smoothing: float = 0.0,
) -> tf.Tensor:
  """Mean over words and branches; logits of padding are not computed if `hidden` is given.

  Args:
    model: computes logits from `hidden`.
    outputs: `hidden` [B, T, K, H], or `logits` [B, T, V].
    tokens: int32 [B, T].
    word_mask: bool [B, T], the words that count.
    seed: int32 [2] of this step.
    label_smoothing: ε.
  """
  if "hidden" not in outputs:
    return cross_entropy.token_mean(outputs["logits"], tokens, word_mask, label_smoothing)
  hidden = tf.boolean_mask(outputs["hidden"], word_mask)  # [n, K, H]
  logits = model.word_logits(hidden, seed)  # [n, K, V]
  words = tf.boolean_mask(tokens, word_mask)[:, tf.newaxis]
  words = tf.broadcast_to(words, tf.shape(logits)[:2])
  return cross_entropy.packed_token_mean(logits, words, label_smoothing)
