"""Keras' `Dense` and `Embedding`, started as PyTorch starts them, which the published models need.

Both are built at once, so that a model has all its weights after `__init__`.
"""

import math

import keras


def uniform(fan: int) -> keras.initializers.Initializer:
  """U(-1/sqrt(fan), 1/sqrt(fan)): PyTorch's start for linear and recurrent weights."""
  bound = 1.0 / math.sqrt(fan)
  return keras.initializers.RandomUniform(-bound, bound)


def dense(inputs: int, outputs: int, name: str, use_bias: bool = True) -> keras.layers.Dense:
  """y = x W + b with W, b ~ U(±1/sqrt(inputs))."""
  layer = keras.layers.Dense(
    outputs,
    use_bias=use_bias,
    kernel_initializer=uniform(inputs),
    bias_initializer=uniform(inputs) if use_bias else "zeros",
    name=name,
  )
  layer.build((None, inputs))
  return layer


def embedding(rows: int, size: int, name: str) -> keras.layers.Embedding:
  """Rows looked up by id, started from N(0, 1)."""
  start = keras.initializers.RandomNormal(stddev=1.0)
  layer = keras.layers.Embedding(rows, size, embeddings_initializer=start, name=name)
  layer.build((None,))
  return layer
