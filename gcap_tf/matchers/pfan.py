"""PFAN: Position Focused Attention Network (Wang et al., IJCAI 2019).

The picture is cut into 16 x 16 blocks, id = 16 x_block + y_block. A region attends to the
embeddings p_n of the 15 blocks that it overlaps most, with overlap shares w_n:

    q = W_a f + b_a,   c_n = tanh(q . p_n),   g = softmax_n(c)
    u = softmax_n(w_n g_n),   p = sum_n u_n p_n,   v = l2n(W_v [f; p] + b_v)

Similarity is SCAN's; t2i adds a bonus for sharp attention:

    S = AGG_t R_t + 0.5 AGG_t max_r alpha_tr
"""

import dataclasses
import math
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.layers import cross_attention, masking, product, region_encoder
from gcap_tf.matchers import attention, base, scan

GRID = 16
PAD_BLOCK = GRID * GRID
BLOCKS = 15


@dataclasses.dataclass(frozen=True)
class PFANConfig(scan.SCANConfig):
  """Options of PFAN.

  Attributes:
    position_size: P, size of a block's embedding.
    bonus: weight of the bonus for sharp attention in t2i.
    mask_pads: leave the padding block out of both softmaxes. Departure: the released
      code attends to it.
    single_softmax: u = w g / sum(w g) instead of the second softmax, which is almost
      uniform for any learned weights. Departure from the released code.
  """

  position_size: configs.PositiveInt = 200
  bonus: configs.Weight = 0.5
  mask_pads: bool = False
  single_softmax: bool = False


@base.MATCHERS.register("pfan")
@keras.saving.register_keras_serializable(package="gcap_tf")
class PFANMatcher(scan.SCANMatcher):
  """SCAN on regions that carry their position.

  The batch holds `position_blocks` [I, R, 30] (15 ids, then 15 shares), or `boxes`
  [I, R, 4] from which the model computes them.
  """

  Config = PFANConfig
  reads_positions = True

  def make_region_encoder(self) -> region_encoder.RegionEncoder:
    config = self.config
    self.position_attention = PositionAttention(config, self.region_input.size)
    return region_encoder.RegionEncoder(
      self.region_input.size + config.position_size,
      config.joint_size,
      normalise=config.normalise_regions,
    )

  def encode_images(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Images:
    features, region_mask = self.region_input(batch), batch["region_mask"]
    region_encoder.check_feature_size(features, self.region_input.size)
    blocks = batch.get("position_blocks")
    if blocks is None:
      blocks = position_blocks(batch["boxes"])
    positions = self.position_attention(features, blocks)
    regions = self.region_encoder(tf.concat([features, positions], -1), region_mask)
    return {"regions": regions, "region_mask": region_mask}

  def score(
    self,
    direction: attention.Direction,
    affinities: cross_attention.Affinities,
    energies: tf.Tensor,
  ) -> tf.Tensor:
    total = super().score(direction, affinities, energies)
    if direction == "t2i" and self.config.bonus:
      sharpest = tf.math.divide_no_nan(tf.reduce_max(energies, 1), tf.reduce_sum(energies, 1))
      total += self.config.bonus * self.aggregate(sharpest, affinities)
    return total


class PositionAttention(keras.layers.Layer):
  """p of every region: features [I, R, D] and blocks [I, R, 30] to [I, R, P].

  It holds its three weights itself, as one layer, under the names of saved runs.
  """

  def __init__(self, config: PFANConfig, feature_size: int, **kwargs: Any):
    super().__init__(**kwargs)
    self.config = config
    bound = 1 / math.sqrt(feature_size)
    uniform = keras.initializers.RandomUniform
    self.kernel = self.add_weight(
      shape=(feature_size, config.position_size),
      initializer=uniform(-bound, bound),
      name="kernel",
    )
    self.bias = self.add_weight(
      shape=(config.position_size,), initializer=uniform(-bound, bound), name="bias"
    )
    self.embedding = self.add_weight(
      shape=(PAD_BLOCK + 1, config.position_size),
      initializer=keras.initializers.RandomNormal(stddev=1.0),
      name="embedding",
    )
    self.build((None, None, feature_size))

  def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return (*input_shape[:-1], self.config.position_size)

  def call(self, features: tf.Tensor, blocks: tf.Tensor) -> tf.Tensor:
    ids = tf.cast(blocks[..., :BLOCKS], tf.int32)
    shares = tf.cast(blocks[..., BLOCKS:], features.dtype)
    real = ids != PAD_BLOCK if self.config.mask_pads else tf.ones_like(ids, tf.bool)
    p = tf.gather(tf.convert_to_tensor(self.embedding), ids)  # [I, R, 15, P]
    q = product.flat_matmul(features, tf.convert_to_tensor(self.kernel)) + self.bias  # [I, R, P]
    g = masking.masked_softmax(tf.tanh(tf.einsum("irp,irnp->irn", q, p)), real)
    if self.config.single_softmax:
      u = tf.math.divide_no_nan(shares * g, tf.reduce_sum(shares * g, -1, keepdims=True))
    else:
      u = masking.masked_softmax(shares * g, real)
    return tf.einsum("irn,irnp->irp", u, p)


def position_blocks(boxes: tf.Tensor) -> tf.Tensor:
  """Block ids and shares of boxes, whose coordinates are from 0 to 1: [I, R, 4] to [I, R, 30].

  These are the 15 blocks with the largest overlap, the lower id first among equals, and their
  overlaps divided by their sum. A box that overlaps fewer blocks has id 256 and share 0 in
  the remaining places.
  """
  edges = tf.range(GRID + 1, dtype=boxes.dtype) / GRID

  def overlap(low: tf.Tensor, high: tf.Tensor) -> tf.Tensor:
    """Length of the overlap with each of the 16 intervals: [I, R, 16]."""
    shared = tf.minimum(high[..., None], edges[1:]) - tf.maximum(low[..., None], edges[:-1])
    return tf.maximum(shared, 0.0)

  x1, y1, x2, y2 = tf.unstack(boxes, axis=-1)
  area = overlap(x1, x2)[..., :, None] * overlap(y1, y2)[..., None, :]  # [I, R, x, y]
  area = tf.reshape(area, tf.concat([tf.shape(boxes)[:-1], [PAD_BLOCK]], 0))
  largest, ids = tf.math.top_k(area, BLOCKS)
  shares = tf.math.divide_no_nan(largest, tf.reduce_sum(largest, -1, keepdims=True))
  ids = tf.where(largest > 0, ids, PAD_BLOCK)
  return tf.concat([tf.cast(ids, boxes.dtype), shares], -1)
