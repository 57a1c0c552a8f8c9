"""Encodes the frames of a video (Zhou et al., Grounded Video Description, CVPR 2019).

    x_j = [Drop(ReLU(W_1 a_j + b_1)); Drop(ReLU(W_2 m_j + b_2))]     appearance a, motion m
    u   = BiGRU_L( .. BiGRU_1( ReLU(BN(x)) ))                        over all frames of the video

Frames are packed (`gru.py`): padding after the last frame is not computed, does not count in the
statistics of BN, and does not reach the backward direction. Departure from the released code, which
runs over zeros up to 480 frames; `over_padding` restores it.
"""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from gcap_tf.layers import batch_norm, dropout, gru, linear

BETWEEN = 0.2  # dropout between the layers of the GRU


class FrameEncoder(keras.layers.Layer):
  """[I, C, M] frames to [I, C, H]; padding becomes zeros.

  Why not `keras.layers.GRU`: packing (measured speed), and dropout that a resumed run repeats.

  Args:
    parts: sizes of the parts of a feature, such as appearance and motion; they add up to M.
    units: H, an equal share of it for each part and for each direction.
    layers: L.
    rate: dropout of x.
    over_padding: runs over padding as well, as the released code does.
  """

  def __init__(
    self,
    parts: Sequence[int],
    units: int,
    layers: int = 2,
    rate: float = 0.5,
    over_padding: bool = False,
    **kwargs: Any,
  ):
    super().__init__(**kwargs)
    self.parts, self.units, self.rate, self.over_padding = tuple(parts), units, rate, over_padding
    share = units // len(self.parts)
    shares = [*[share] * (len(self.parts) - 1), units - share * (len(self.parts) - 1)]
    self.maps = [
      linear.dense(size, own, name=f"{self.name}_part_{n}")
      for n, (size, own) in enumerate(zip(self.parts, shares, strict=True))
    ]
    self.norm = batch_norm.BatchNorm(units, name=f"{self.name}_norm")
    half = units // 2
    self.directions = [
      (
        gru.PackedGRU(units, half, name=f"{self.name}_forward_{n}"),
        gru.PackedGRU(units, units - half, name=f"{self.name}_backward_{n}"),
      )
      for n in range(layers)
    ]
    self.build((None, None, sum(self.parts)))

  def compute_output_shape(self, input_shape):
    return (*input_shape[:-1], self.units)

  def call(
    self, frames: tf.Tensor, frame_mask: tf.Tensor, seed: tf.Tensor | None = None, salt: int = 0
  ) -> tf.Tensor:
    """Encodes frames.

    Args:
      frames: [I, C, M].
      frame_mask: bool [I, C], real frames, on the left.
      seed: of the dropout, int32 [2]; None outside training.
      salt: number of the first place that draws random numbers.
    """
    counted = tf.ones_like(frame_mask) if self.over_padding else frame_mask
    packing = gru.pack(counted)
    x = tf.gather_nd(frames, packing.index)  # [W, M]
    mapped = [
      dropout.dropout(tf.nn.relu(layer(part)), self.rate, seed, salt + n)
      for n, (layer, part) in enumerate(
        zip(self.maps, tf.split(x, self.parts, axis=1), strict=True)
      )
    ]
    x = tf.concat(mapped, 1) if len(mapped) > 1 else mapped[0]  # [W, H]
    x = tf.nn.relu(self.norm(x, axis=1, training=seed is not None))
    for n, (forward, backward) in enumerate(self.directions):
      if n:
        x = dropout.dropout(x, BETWEEN, seed, salt + len(self.parts) + n)
      ahead = forward(x, packing.sizes)
      behind = backward(gru.mirror(x, packing.reversed_row), packing.sizes)
      x = tf.concat([ahead, gru.mirror(behind, packing.reversed_row)], 1)
    shape = tf.concat([tf.shape(frames)[:2], [self.units]], 0)
    return tf.ensure_shape(tf.scatter_nd(packing.index, x, shape), [None, None, self.units])
