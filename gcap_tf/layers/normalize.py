"""Norms and cosines with the epsilons of SCAN and related programs, with gradients at zero.

l2n(x)     = x / (|x|_2 + 1e-8)               epsilon added after the root
l1n(x)     = x / (|x|_1 + 1e-8)
cos(x, y)  = x . y / max(|x| |y|, 1e-8)       product of norms clamped
lrelu(x)   = x if x > 0, else 0.1 x
"""

import tensorflow as tf

EPSILON = 1e-8


def safe_sqrt(x: tf.Tensor) -> tf.Tensor:
  """Square root of x >= 0 whose gradient at 0 is 0 instead of infinite."""
  positive = x > 0
  return tf.where(positive, tf.sqrt(tf.where(positive, x, tf.ones_like(x))), tf.zeros_like(x))


def l2_norm(x: tf.Tensor, axis: int = -1, keepdims: bool = False) -> tf.Tensor:
  return safe_sqrt(tf.reduce_sum(tf.square(x), axis, keepdims=keepdims))


def l2n(x: tf.Tensor, axis: int = -1) -> tf.Tensor:
  return x / (l2_norm(x, axis, keepdims=True) + EPSILON)


def l1n(x: tf.Tensor, axis: int = -1) -> tf.Tensor:
  return x / (tf.reduce_sum(tf.abs(x), axis, keepdims=True) + EPSILON)


def cosine(x: tf.Tensor, y: tf.Tensor, axis: int = -1) -> tf.Tensor:
  dot = tf.reduce_sum(x * y, axis)
  return cosine_of_products(
    dot, tf.reduce_sum(tf.square(x), axis), tf.reduce_sum(tf.square(y), axis)
  )


def cosine_of_products(dot: tf.Tensor, x_square: tf.Tensor, y_square: tf.Tensor) -> tf.Tensor:
  """The clamped cosine from x.y, |x|^2 and |y|^2, without the vectors themselves."""
  return dot * tf.math.rsqrt(tf.maximum(x_square * y_square, EPSILON**2))


def lrelu(x: tf.Tensor) -> tf.Tensor:
  return tf.nn.leaky_relu(x, 0.1)
