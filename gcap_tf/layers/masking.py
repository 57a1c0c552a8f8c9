"""Softmax and averages that ignore padding.

Padding gets exactly 0, real entries of a row sum to 1, and a row without a real entry is
all zeros with zero gradient.
"""

import tensorflow as tf


def masked_softmax(logits: tf.Tensor, mask: tf.Tensor, axis: int = -1) -> tf.Tensor:
  """Softmax over the entries of `logits` that `mask` marks.

  Args:
    logits: float tensor; values under a false mask may be anything, infinities included.
    mask: bool, broadcastable to `logits`.
    axis: the axis that sums to 1.

  Returns:
    The shape of `logits`: exactly 0 if `mask` is false; a row without a true entry is all
    zeros.
  """
  mask = tf.broadcast_to(mask, tf.shape(logits))
  floor = tf.constant(logits.dtype.min, logits.dtype)
  # The inner tf.where makes the gradient of a masked entry 0, whatever its logit is.
  peak = tf.reduce_max(tf.where(mask, logits, floor), axis, keepdims=True)
  shifted = tf.where(mask, logits - tf.stop_gradient(peak), tf.zeros_like(logits))
  weights = tf.where(mask, tf.exp(shifted), tf.zeros_like(logits))
  return tf.math.divide_no_nan(weights, tf.reduce_sum(weights, axis, keepdims=True))


def masked_mean(values: tf.Tensor, mask: tf.Tensor, axis: int = -1) -> tf.Tensor:
  """Mean of the `values` that `mask` marks; 0 if it marks none.

  Args:
    values: float tensor.
    mask: bool, broadcastable to `values`.
    axis: the axis that is averaged away.
  """
  mask = tf.broadcast_to(mask, tf.shape(values))
  total = tf.reduce_sum(tf.where(mask, values, tf.zeros_like(values)), axis)
  return tf.math.divide_no_nan(total, tf.reduce_sum(tf.cast(mask, values.dtype), axis))
