"""Numbers inside a string tensor of bytes, read in the graph.

A position past the end reads as zero, so that walks over a cut file end instead of failing.
"""

from collections.abc import Sequence

import tensorflow as tf

_PADDING = bytes(1)


def raw_bytes(data: tf.Tensor) -> tf.Tensor:
  """The bytes of a scalar string and one zero: [n + 1] uint8."""
  return tf.io.decode_raw(tf.strings.join([data, tf.constant(_PADDING)]), tf.uint8)


def take(raw: tf.Tensor, start: tf.Tensor | int, count: int) -> tf.Tensor:
  """`count` bytes from `start` as [count] int32."""
  index = tf.minimum(start + tf.range(count), tf.size(raw) - 1)
  return tf.cast(tf.gather(raw, tf.maximum(index, 0)), tf.int32)


def big_endian(values: tf.Tensor) -> tf.Tensor:
  """The unsigned number that [..., k] bytes write, most significant first; k <= 4."""
  return _number(values, range(values.shape[-1] - 1, -1, -1))


def little_endian(values: tf.Tensor) -> tf.Tensor:
  """The unsigned number that [..., k] bytes write, least significant first; k <= 4."""
  return _number(values, range(values.shape[-1]))


def equal(values: tf.Tensor, expected: bytes) -> tf.Tensor:
  """Whether [k] bytes are `expected`; a scalar bool."""
  return tf.reduce_all(values == tf.constant(list(expected), tf.int32))


def _number(values: tf.Tensor, powers: Sequence[int]) -> tf.Tensor:
  weights = tf.constant([256**power for power in powers], tf.int64)
  number = tf.reduce_sum(tf.cast(values, tf.int64) * weights, axis=-1)
  # Sizes beyond int32 are nonsense here, and stay large.
  return tf.cast(tf.minimum(number, tf.int32.max // 2), tf.int32)
