"""SGRAF: Similarity Reasoning and Filtration (Diao et al., AAAI 2021).

    x_t = l2n(W_l (a_t - e_t)^2 + b_l)     a_t: unit context of word t, SCAN's t2i attention
    x_0 = l2n(W_g (V - E)^2 + b_g)         V, E: global vectors of picture and caption
    S   = sigmoid(w . z + b)

One of two heads (`matchers/sgraf_heads.py`) computes z from the nodes X = [x_0, x_1 .. x_L]:
SGR reasons over the graph of nodes, SAF filters them. The model that the paper calls SGRAF
is the mean score of one model of each head (`matchers/ensemble.py`).
"""

import dataclasses
from typing import Any, Literal

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.layers import (
  cross_attention,
  normalize,
  self_attention,
  similarity_vectors,
  text_encoder,
)
from gcap_tf.matchers import attention, base, sgraf_heads

PICTURE_SALT, CAPTION_SALT = 201, 211


@dataclasses.dataclass(frozen=True)
class SGRAFConfig(attention.EncoderConfig):
  """Options of SGRAF.

  Attributes:
    head: "SGR" or "SAF".
    similarity_size: length of a similarity vector.
    reasoning_steps: steps of SGR.
    regions: the most regions that a picture can have. Every region slot has its own
      statistics, so the order of regions matters to this model.
    lambda_softmax: inverse temperature of the attention.
    dropout_rate: dropout on word embeddings and in both global vectors.
  """

  head: Literal["SGR", "SAF"] = "SGR"
  similarity_size: configs.PositiveInt = 256
  reasoning_steps: configs.PositiveInt = 3
  regions: configs.PositiveInt = 36
  lambda_softmax: configs.Positive = 9.0
  dropout_rate: configs.Fraction = 0.4


@base.MATCHERS.register("sgraf")
@keras.saving.register_keras_serializable(package="gcap_tf")
class SGRAFMatcher(attention.AttentionMatcher):
  """Padding words and regions change neither attention, statistics nor heads."""

  Config = SGRAFConfig
  directions = ("t2i",)

  def __init__(self, config: SGRAFConfig, **kwargs: Any):
    super().__init__(config, **kwargs)
    joint, size = config.joint_size, config.similarity_size
    self.picture_vector = self_attention.SelfAttention(
      joint, config.regions, config.dropout_rate, PICTURE_SALT, name="picture_vector"
    )
    self.caption_vector = self_attention.SelfAttention(
      joint, None, config.dropout_rate, CAPTION_SALT, name="caption_vector"
    )
    self.local_projection = self_attention.dense(
      [None, None, None, joint], size, "local_projection"
    )
    self.global_projection = self_attention.dense([None, None, joint], size, "global_projection")
    if config.head == "SGR":
      self.head = sgraf_heads.Reasoning(size, config.reasoning_steps, name="reasoning")
    else:
      self.head = sgraf_heads.Filtration(size, name="filtration")
    self.readout = self_attention.dense([None, None, size], 1, "readout")

  def make_text_encoder(self) -> text_encoder.TextEncoder:
    config = self.config
    return text_encoder.TextEncoder(
      config.vocabulary_size,
      config.word_size,
      config.joint_size,
      config.bidirectional,
      config.normalise_words,
      dropout_rate=config.dropout_rate,
    )

  def encode_images(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Images:
    _check_regions(batch["region_mask"], self.max_regions)
    images = super().encode_images(batch, seed)
    vector = self.picture_vector(images["regions"], images["region_mask"], seed)
    return {**images, "picture_vector": vector}

  def encode_captions(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Captions:
    captions = super().encode_captions(batch, seed)
    vector = self.caption_vector(captions["words"], captions["word_mask"], seed)
    return {**captions, "caption_vector": vector}

  def energies(
    self, direction: attention.Direction, affinities: cross_attention.Affinities
  ) -> tf.Tensor:
    return cross_attention.energies(affinities, "clipped_l2norm", self.config.lambda_softmax)

  def similarity(
    self, images: base.Images, captions: base.Captions, training: bool = False
  ) -> tf.Tensor:
    affinities = self._affinities("t2i", images, captions, cross_attention.all_pairs)
    weights = tf.transpose(self._unit_context_weights(affinities), [0, 1, 3, 2])  # [I, R, C, T]
    pictures, regions, sentences, words = tf.unstack(tf.shape(weights))
    size = self.config.joint_size
    local = similarity_vectors.all_pairs(
      tf.reshape(weights, [pictures, regions, sentences * words]),
      images["regions"],
      tf.reshape(captions["words"], [-1, size]),
      *map(tf.convert_to_tensor, (self.local_projection.kernel, self.local_projection.bias)),
    )
    local = tf.reshape(local, [pictures, sentences, words, self.config.similarity_size])
    overall = self.global_projection(
      tf.math.squared_difference(
        images["picture_vector"][:, None], captions["caption_vector"][None]
      )
    )  # [I, C, S]
    return self._read_out(overall, local, captions["word_mask"], training)

  def pair_similarity(
    self,
    images: base.Images,
    captions: base.Captions,
    image_index: tf.Tensor,
    caption_index: tf.Tensor,
  ) -> tf.Tensor:
    images, captions = base.take(images, image_index), base.take(captions, caption_index)
    affinities = self._affinities("t2i", images, captions, cross_attention.matched_pairs)
    local = similarity_vectors.matched_pairs(
      self._unit_context_weights(affinities)[..., 0],
      images["regions"],
      captions["words"],
      *map(tf.convert_to_tensor, (self.local_projection.kernel, self.local_projection.bias)),
    )
    overall = self.global_projection(
      tf.math.squared_difference(images["picture_vector"], captions["caption_vector"])
    )
    return self._read_out(overall[None], local[None], captions["word_mask"], False)[0]

  @property
  def max_regions(self) -> int:
    return self.config.regions

  @property
  def pairs_are_independent(self) -> bool:
    """True for SGR only: SAF normalises a caption over all pictures of the batch."""
    return self.config.head == "SGR"

  def _unit_context_weights(self, affinities: cross_attention.Affinities) -> tf.Tensor:
    """Attention divided by the norm of its context: [X, N, M, Y]."""
    weights = cross_attention.weights(self.energies("t2i", affinities))
    square = cross_attention.context_square(affinities, weights)[:, None]
    return weights / (normalize.safe_sqrt(square) + normalize.EPSILON)

  def _read_out(
    self, overall: tf.Tensor, local: tf.Tensor, word_mask: tf.Tensor, training: bool
  ) -> tf.Tensor:
    """Scores from x_0 [I, C, S] and x_t [I, C, T, S] before normalisation: [I, C]."""
    nodes = normalize.l2n(tf.concat([overall[:, :, None], local], 2))  # [I, C, 1 + T, S]
    node_mask = tf.pad(word_mask, [[0, 0], [1, 0]], constant_values=True)
    z = self.head(nodes, node_mask, training=training)  # [I, C, S]
    return tf.sigmoid(self.readout(z))[..., 0]


def _check_regions(region_mask: tf.Tensor, most: int) -> None:
  """Raises a `UserError` if pictures have more regions than the model has statistics for."""
  found = region_mask.shape[1]
  if found is not None and found > most:
    raise errors.UserError(
      f"sgraf was built for {most} regions in a picture, but this batch has {found}; "
      f"keep {most} regions, or train sgraf with regions={found}"
    )
