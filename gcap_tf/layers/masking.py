"""Softmax and averages that padding cannot touch.

Padding gets exactly 0, real entries of a row sum to 1, and a row without a single real
entry is all zeros with zero gradient.
"""

import tensorflow as tf


def masked_softmax(logits: tf.Tensor, mask: tf.Tensor, axis: int = -1) -> tf.Tensor:
  """Softmax over the entries of `logits` where `mask` is true.

  Args:
    logits: float tensor; values under a false mask may be anything, infinities included.
    mask: bool, broadcastable to `logits`.
    axis: the axis that sums to 1.

  Returns:
    The shape of `logits`: exactly 0 where `mask` is false, all zeros where a row has
    no true entry.
  """
  mask = tf.broadcast_to(mask, tf.shape(logits))
  floor = tf.constant(logits.dtype.min, logits.dtype)
  # Inner where: the gradient of a masked entry is 0 whatever the logit holds.
  peak = tf.reduce_max(tf.where(mask, logits, floor), axis, keepdims=True)
  shifted = tf.where(mask, logits - tf.stop_gradient(peak), tf.zeros_like(logits))
  weights = tf.where(mask, tf.exp(shifted), tf.zeros_like(logits))
  return tf.math.divide_no_nan(weights, tf.reduce_sum(weights, axis, keepdims=True))


def masked_mean(values: tf.Tensor, mask: tf.Tensor, axis: int = -1) -> tf.Tensor:
  """Mean of `values` where `mask` is true; 0 where it never is.

  Args:
    values: float tensor.
    mask: bool, broadcastable to `values`.
    axis: the axis that is averaged away.
  """
  mask = tf.broadcast_to(mask, tf.shape(values))
  total = tf.reduce_sum(tf.where(mask, values, tf.zeros_like(values)), axis)
  return tf.math.divide_no_nan(total, tf.reduce_sum(tf.cast(mask, values.dtype), axis))
