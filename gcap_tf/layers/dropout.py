"""Dropout as a pure function of a seed, so that a resumed run repeats it exactly.

Why not `keras.layers.Dropout`: it keeps hidden generator state that checkpoints miss, and
draws the same mask on every replica. Here the caller passes `seed`, an int32 [2] tensor made
from (run seed, step, replica), or None outside training.
"""

import tensorflow as tf


def dropout(x: tf.Tensor, rate: float, seed: tf.Tensor | None, salt: int) -> tf.Tensor:
  """Inverted dropout; the identity if `seed` is None or `rate` is 0.

  Args:
    x: any float tensor.
    rate: share of entries set to zero.
    seed: int32 [2], or None outside training.
    salt: number of the place in the model; places that share a seed draw different masks.
  """
  if seed is None or rate == 0.0:
    return x
  return tf.nn.experimental.stateless_dropout(x, rate, seed=derive(seed, salt))


def derive(seed: tf.Tensor, salt: int | tf.Tensor) -> tf.Tensor:
  """The seed of one place, time step or sample: int32 [2]."""
  return tf.random.experimental.stateless_fold_in(seed, salt)
