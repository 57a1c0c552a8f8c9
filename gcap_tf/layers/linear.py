"""Affine maps and tables that start as PyTorch's do, which the published models rely on."""

import math

import keras
import tensorflow as tf


def uniform(fan: int) -> keras.initializers.Initializer:
  """U(-1/sqrt(fan), 1/sqrt(fan)): PyTorch's start for linear and recurrent weights."""
  bound = 1.0 / math.sqrt(fan)
  return keras.initializers.RandomUniform(-bound, bound)


class Linear(keras.layers.Layer):
  """y = x W + b with W, b ~ U(±1/sqrt(inputs)); weights exist from construction on."""

  def __init__(self, inputs: int, outputs: int, use_bias: bool = True, **kwargs):
    super().__init__(**kwargs)
    self.supports_masking = True  # Rows are independent, so a mask passes through.
    self.kernel = self.add_weight(
      shape=(inputs, outputs), initializer=uniform(inputs), name="kernel"
    )
    self.bias = None
    if use_bias:
      self.bias = self.add_weight(shape=(outputs,), initializer=uniform(inputs), name="bias")
    self.built = True

  def call(self, x: tf.Tensor) -> tf.Tensor:
    inputs, outputs = self.kernel.shape
    # One flat product: a batched matmul would broadcast the kernel over the leading axes.
    y = tf.matmul(tf.reshape(x, [-1, inputs]), self.kernel)
    if self.bias is not None:
      y = tf.nn.bias_add(y, self.bias)
    return tf.reshape(y, tf.concat([tf.shape(x)[:-1], [outputs]], 0)) if x.shape.rank != 2 else y


class Table(keras.layers.Layer):
  """Rows looked up by id, started from N(0, 1)."""

  def __init__(self, rows: int, size: int, **kwargs):
    super().__init__(**kwargs)
    self.embeddings = self.add_weight(
      shape=(rows, size), initializer=keras.initializers.RandomNormal(stddev=1.0), name="embeddings"
    )
    self.built = True

  def call(self, ids: tf.Tensor) -> tf.Tensor:
    return tf.gather(self.embeddings, ids)
