"""Batch normalisation with PyTorch's statistics: the running variance is unbiased.

    y = gamma (x - mean) / sqrt(var + 1e-5) + beta
    running <- 0.9 running + 0.1 statistic

`keras.layers.BatchNormalization` keeps the biased variance and has no statistics of single
captions. Statistics are computed over the entries of all replicas.
"""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

MOMENTUM = 0.9
EPSILON = 1e-5


class BatchNorm(keras.layers.Layer):
  """Normalises one channel axis over real entries only.

  It buys parity with published models, which Keras' layer does not have (see above).

  Args:
    size: number of channels.
  """

  def __init__(self, size: int, **kwargs: Any):
    super().__init__(**kwargs)
    self.gamma = self.add_weight(shape=(size,), initializer="ones", name="gamma")
    self.beta = self.add_weight(shape=(size,), initializer="zeros", name="beta")
    # All replicas compute the same statistics; an assignment writes their mean.
    shared = {"trainable": False, "aggregation": "mean"}
    self.moving_mean = self.add_weight(
      shape=(size,), initializer="zeros", name="moving_mean", **shared
    )
    self.moving_variance = self.add_weight(
      shape=(size,), initializer="ones", name="moving_variance", **shared
    )
    self.build((None, size))

  def compute_output_shape(self, input_shape):
    return input_shape

  def call(
    self, x: tf.Tensor, axis: int, counted: tf.Tensor | None = None, training: bool = False
  ) -> tf.Tensor:
    """Normalises `x`; its channel `axis` may be shorter than `size` (the first slots).

    Args:
      x: any float tensor.
      axis: the channel axis.
      counted: bool, broadcastable to `x`: entries that count in the statistics.
      training: use the statistics of `x` and update the running ones.
    """
    channels = tf.shape(x)[axis]
    shape = tf.one_hot(axis, x.shape.rank, channels, 1, dtype=tf.int32)
    if training:
      axes = [a for a in range(x.shape.rank) if a != axis % x.shape.rank]
      count, mean, variance = masked_moments(x, counted, axes, add_replicas)
      self._move(count, mean, variance)
    else:
      mean, variance = self.moving_mean[:channels], self.moving_variance[:channels]
    scale = self.gamma[:channels] * tf.math.rsqrt(variance + EPSILON)
    shift = self.beta[:channels] - mean * scale
    return x * tf.reshape(scale, shape) + tf.reshape(shift, shape)

  def over_captions(
    self, x: tf.Tensor, mask: tf.Tensor, order: tf.Tensor, training: bool = False
  ) -> tf.Tensor:
    """Normalises each caption separately, as the released SGRAF does (size 1).

    The running statistics are updated once for every caption, in the given order:
    after C captions, run <- 0.9^C run + sum_c 0.1 0.9^(C-1-c) stat_c.

    Args:
      x: [I, C, L] values of I pictures.
      mask: bool [C, L].
      order: int32 [C], captions in the order of their updates.
      training: use the statistics of each caption and update the running ones.
    """
    if training:
      count, mean, variance = masked_moments(x, mask[None], [0, 2])  # [C] each
      total = tf.shape(order)[0]
      after = tf.cast(tf.range(total - 1, -1, -1), x.dtype)
      weight = (1 - MOMENTUM) * tf.pow(tf.constant(MOMENTUM, x.dtype), after)
      kept = tf.pow(tf.constant(MOMENTUM, x.dtype), tf.cast(total, x.dtype))
      unbiased = variance * count / tf.maximum(count - 1, 1)
      for running, value in ((self.moving_mean, mean), (self.moving_variance, unbiased)):
        moved = tf.reduce_sum(weight * tf.gather(tf.stop_gradient(value), order))
        running.assign(kept * running + moved)
      mean, variance = mean[None, :, None], variance[None, :, None]
    else:
      mean, variance = self.moving_mean[0], self.moving_variance[0]
    return (x - mean) * self.gamma[0] * tf.math.rsqrt(variance + EPSILON) + self.beta[0]

  def _move(self, count: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor) -> None:
    """Updates the running statistics once; channels without an entry keep theirs."""
    unbiased = variance * count / tf.maximum(count - 1, 1)
    for running, value in ((self.moving_mean, mean), (self.moving_variance, unbiased)):
      missing = running.shape[0] - tf.shape(count)[0]
      rate = tf.pad(tf.where(count > 0, 1 - MOMENTUM, 0.0), [[0, missing]])
      value = tf.pad(tf.stop_gradient(value), [[0, missing]])
      running.assign(running + rate * (value - running))


def masked_moments(
  x: tf.Tensor,
  mask: tf.Tensor | None,
  axes: list[int],
  add: Callable[[tf.Tensor], tf.Tensor] = tf.identity,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
  """Count, mean and biased variance over `axes`, of the entries that `mask` marks.

  `add` adds the parts of a sum over replicas.
  """
  real = tf.ones_like(x) if mask is None else tf.broadcast_to(tf.cast(mask, x.dtype), tf.shape(x))
  count = add(tf.reduce_sum(real, axes, keepdims=True))
  mean = tf.math.divide_no_nan(add(tf.reduce_sum(x * real, axes, keepdims=True)), count)
  squares = add(tf.reduce_sum(tf.square(x - mean) * real, axes, keepdims=True))
  variance = tf.math.divide_no_nan(squares, count)
  return tuple(tf.squeeze(value, axes) for value in (count, mean, variance))


def add_replicas(part: tf.Tensor) -> tf.Tensor:
  """The sum over replicas; its gradient comes from all of them."""
  replica = tf.distribute.get_replica_context()
  if replica is None or replica.num_replicas_in_sync == 1:
    return part
  return replica.all_reduce(tf.distribute.ReduceOp.SUM, part)
