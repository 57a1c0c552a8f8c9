"""Embeds regions in the joint space (Zhou et al., POS-SCAN, CVPR 2020, Eq. 1).

    v_r = l2n(W_v f_r + b_v)

with W_v free, or weight-normalised as W_v = g V / ||V||_F with one scalar g.
"""

import math
from typing import Any, Literal

import keras
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import normalize, product

RegionEncoderKind = Literal["basic", "weight_norm"]


class RegionEncoder(keras.layers.Layer):
  """[I, R, D] features to [I, R, J] unit vectors; padding regions become zero vectors.

  It is not a `keras.layers.Dense` because W_v may be weight-normalised.
  """

  def __init__(
    self,
    feature_size: int,
    joint_size: int,
    kind: RegionEncoderKind = "basic",
    normalise: bool = True,
    **kwargs: Any,
  ):
    super().__init__(**kwargs)
    self.feature_size, self.kind, self.normalise = feature_size, kind, normalise
    if kind == "basic":
      bound, bias = math.sqrt(6 / (feature_size + joint_size)), "zeros"
    else:
      bound = 1 / math.sqrt(feature_size)
      bias = keras.initializers.RandomUniform(-bound, bound)
    self.kernel = self.add_weight(
      shape=(feature_size, joint_size),
      initializer=keras.initializers.RandomUniform(-bound, bound),
      name="kernel",
    )
    self.bias = self.add_weight(shape=(joint_size,), initializer=bias, name="bias")
    if kind == "weight_norm":
      norm = float(tf.norm(tf.convert_to_tensor(self.kernel)))
      self.gain = self.add_weight(
        shape=(), initializer=keras.initializers.Constant(norm), name="gain"
      )
    self.build((None, None, feature_size))

  def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return (*input_shape[:-1], self.kernel.shape[-1])

  def matrix(self) -> tf.Tensor:
    """W_v transposed, [D, J]."""
    kernel = tf.convert_to_tensor(self.kernel)
    if self.kind == "basic":
      return kernel
    return self.gain * kernel / tf.norm(kernel)

  def call(self, features: tf.Tensor, region_mask: tf.Tensor) -> tf.Tensor:
    joint = product.flat_matmul(features, self.matrix()) + self.bias  # [I, R, J]
    joint = normalize.l2n(joint) if self.normalise else joint
    return tf.where(region_mask[..., None], joint, tf.zeros_like(joint))


def check_feature_size(features: tf.Tensor, expected: int) -> None:
  """Raises a `UserError` if region features do not have the `expected` size.

  Matchers call it before the layer: Keras adds lines to errors that a layer's `call` raises.
  """
  if features.shape[-1] != expected:
    raise errors.UserError(
      f"region features have {features.shape[-1]} numbers but the matcher was built for "
      f"{expected}; use the features it was trained on, or train a matcher on these"
    )
