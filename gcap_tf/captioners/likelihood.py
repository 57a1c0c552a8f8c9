"""The likelihood of given captions under a captioner.

    ln p(w | I) = Σ_t ln p(w_t | I, w_1 .. w_(t-1))      the end of the sentence included

Self-critical learning, contrastive learning and self-retrieval use it. Several branches count
with their mean distribution, from which samples are drawn.
"""

import tensorflow as tf

from gcap_tf.captioners import base, branches


def emitted(tokens: tf.Tensor) -> tf.Tensor:
  """Words and the one 0 that ends them, bool [B, T], for captions `w1 .. wn 0 0 ..`."""
  return tf.pad(tokens[:, :-1] > 0, [[0, 0], [1, 0]], constant_values=True)


def trim(tokens: tf.Tensor) -> tf.Tensor:
  """Captions without the columns after the end of the longest one: [B, T] -> [B, t]."""
  longest = tf.reduce_max(tf.reduce_sum(tf.cast(tokens > 0, tf.int32), 1))
  return tokens[:, : longest + 1]


def packed_log_probs(
  captioner: base.Captioner,
  outputs: dict[str, tf.Tensor],
  tokens: tf.Tensor,
  mask: tf.Tensor,
  seed: tf.Tensor | None = None,
) -> tf.Tensor:
  """ln p of the masked words, one after the other: [n].

  Only masked words are scored over V: padding costs no matrix product.

  Args:
    captioner: the captioner of `outputs`.
    outputs: output of its `teacher_force(memory, tokens, seed)`.
    tokens: int32 [B, T].
    mask: bool [B, T], n of them true.
    seed: the seed of that `teacher_force`.
  """
  words = tf.boolean_mask(tokens, mask)
  hidden = tf.boolean_mask(outputs["hidden"], mask)  # [n, K, H]
  logits = branches.mixture(captioner.word_logits(hidden, seed))  # [n, V]
  return -tf.nn.sparse_softmax_cross_entropy_with_logits(words, logits)


def caption_log_probs(
  captioner: base.Captioner,
  memory: base.Memory,
  tokens: tf.Tensor,
  seed: tf.Tensor | None = None,
  mask: tf.Tensor | None = None,
) -> tf.Tensor:
  """ln p of whole captions, [B].

  Args:
    captioner: any.
    memory: of I pictures.
    tokens: int32 [B, T], picture-major.
    seed: of the captioner's dropout, or None.
    mask: bool [B, T], the words that count; None counts all words and the end.
  """
  mask = emitted(tokens) if mask is None else mask
  outputs = captioner.teacher_force(memory, tokens, seed)
  log_probs = packed_log_probs(captioner, outputs, tokens, mask, seed)
  rows = tf.cast(tf.where(mask)[:, 0], tf.int32)
  return tf.math.unsorted_segment_sum(log_probs, rows, tf.shape(tokens)[0])
