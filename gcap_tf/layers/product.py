"""Matrix products laid out so that TensorFlow's CPU runs them at full speed.

`flat_matmul` keeps a product of many leading indices one product. The others are for a
kernel that a loop uses again and again: two habits of the CPU product make a recurrent
step two to three times slower than it has to be. Rows whose length is a multiple of a
high power of two fall on the same cache lines, and a transposed right-hand side (every
gradient of an input) is read against the grain. Both are cured by a copy of the kernel
that is made once, before the loop.
"""

from collections.abc import Callable

import tensorflow as tf

_PADDING = 16
_ALIASED = 256


def widen(kernel: tf.Tensor) -> tf.Tensor:
  """The kernel [inputs, outputs] with a few columns of zeros where its rows would collide."""
  kernel = tf.convert_to_tensor(kernel)
  if kernel.shape[1] % _ALIASED:
    return kernel
  return tf.pad(kernel, [[0, 0], [0, _PADDING]])


def with_kernel(kernel: tf.Tensor) -> Callable[[tf.Tensor], tf.Tensor]:
  """`x -> x @ kernel`, for many x [rows, inputs]."""
  outputs, wide = kernel.shape[1], widen(kernel)
  return lambda x: tf.matmul(x, wide)[:, :outputs]


def with_constant(kernel: tf.Tensor) -> Callable[[tf.Tensor], tf.Tensor]:
  """As `with_kernel`, with a quick gradient to x and none to the kernel."""
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
  """x [..., K] times kernel [K, N]: [..., N].

  tf.matmul would run one small product for every leading index, and its gradient would
  form one kernel-sized tensor for each of them before adding them up.
  """
  inputs, outputs = kernel.shape
  y = tf.matmul(tf.reshape(x, [-1, inputs]), kernel)
  return tf.reshape(y, tf.concat([tf.shape(x)[:-1], [outputs]], 0))
