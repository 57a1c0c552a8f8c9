"""Matrix products laid out so that TensorFlow's CPU runs them at full speed.

`flat_matmul` turns a product with many leading axes into one matrix product. The other
functions are for a kernel that a loop uses many times. Two effects make such a product two to
three times slower than necessary: rows whose length is a multiple of a high power of two share
cache lines, and a transposed right-hand side (every gradient of an input) is read column by
column. A copy of the kernel, made once before the loop, avoids both.
"""

from collections.abc import Callable

import tensorflow as tf

_PADDING = 16
_ALIASED = 256


def widen(kernel: tf.Tensor) -> tf.Tensor:
  """The kernel [inputs, outputs], with extra columns of zeros if its rows share cache lines."""
  kernel = tf.convert_to_tensor(kernel)
  if kernel.shape[1] % _ALIASED:
    return kernel
  return tf.pad(kernel, [[0, 0], [0, _PADDING]])


def with_kernel(kernel: tf.Tensor) -> Callable[[tf.Tensor], tf.Tensor]:
  """`x -> x @ kernel`, for many x [rows, inputs]."""
  outputs, wide = kernel.shape[1], widen(kernel)
  return lambda x: tf.matmul(x, wide)[:, :outputs]


def with_constant(kernel: tf.Tensor) -> Callable[[tf.Tensor], tf.Tensor]:
  """As `with_kernel`, with a fast gradient for x and no gradient for the kernel."""
  inputs, outputs = kernel.shape
  kernel = tf.stop_gradient(tf.convert_to_tensor(kernel))
  wide, back = widen(kernel), widen(tf.transpose(kernel))

  @tf.custom_gradient
  def multiply(x):
    return (
      tf.matmul(x, wide)[:, :outputs],
      lambda upstream: tf.matmul(upstream, back)[:, :inputs],
    )

  return multiply


def flat_matmul(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
  """x [..., inputs] times kernel [inputs, outputs]: [..., outputs].

  tf.matmul runs one small product for every leading index, and its gradient makes one
  kernel-sized tensor for each of them before it adds them.
  """
  inputs, outputs = kernel.shape
  y = tf.matmul(tf.reshape(x, [-1, inputs]), kernel)
  return tf.reshape(y, tf.concat([tf.shape(x)[:-1], [outputs]], 0))
