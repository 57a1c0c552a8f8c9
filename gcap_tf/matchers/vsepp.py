"""VSE++: Visual-Semantic Embeddings with Hard Negatives (Faghri et al., BMVC 2018).

One vector for a picture and one for a caption:

    im = W_f x / |W_f x|,    s = h_L / |h_L|
    cosine  S(im, s) = im . s
    order   S(im, s) = -| max(0, s - im) |
"""

import dataclasses
from typing import Any, Literal

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.layers import normalize, region_encoder, text_encoder
from gcap_tf.matchers import base


@dataclasses.dataclass(frozen=True)
class VSEPPConfig(base.MatcherConfig):
  """Options of VSE++.

  Attributes:
    feature_size: G of the pooled picture feature.
    measure: "cosine", or "order" embeddings.
    absolute: embed into the positive orthant (for order embeddings).
  """

  feature_size: configs.PositiveInt = 2048
  measure: Literal["cosine", "order"] = "cosine"
  absolute: bool = False


@base.MATCHERS.register("vsepp")
@keras.saving.register_keras_serializable(package="gcap_tf")
class VSEPPMatcher(base.Matcher):
  """Reads `global_feature` and has no attention."""

  Config = VSEPPConfig
  attends = False

  def __init__(self, config: VSEPPConfig, **kwargs: Any):
    super().__init__(config, **kwargs)
    self.image_encoder = region_encoder.RegionEncoder(
      config.feature_size, config.joint_size, normalise=False
    )
    self.text_encoder = text_encoder.TextEncoder(
      config.vocabulary_size,
      config.word_size,
      config.joint_size,
      bidirectional=False,
      normalise=False,
    )

  def encode_images(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Images:
    pooled = batch["global_feature"][:, None]  # [I, 1, G]
    region_encoder.check_feature_size(pooled, self.config.feature_size)
    image = self.image_encoder(pooled, tf.ones(tf.shape(pooled)[:2], tf.bool))
    image = self._embed(image[:, 0])
    return {
      "image": image,
      "regions": image[:, None],
      "region_mask": tf.ones([tf.shape(image)[0], 1], tf.bool),
    }

  def encode_captions(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Captions:
    mask = batch["token_mask"]
    words = self.text_encoder(batch["tokens"], mask, seed)
    last = tf.reduce_sum(tf.cast(mask, tf.int32), 1) - 1
    return {
      "caption": self._embed(tf.gather(words, last, batch_dims=1)),
      "words": words,
      "word_mask": mask,
      "noun_mask": batch["noun_mask"],
      "tokens": batch["tokens"],
    }

  def similarity(
    self, images: base.Images, captions: base.Captions, training: bool = False
  ) -> tf.Tensor:
    image, caption = images["image"], captions["caption"]
    if self.config.measure == "cosine":
      return tf.matmul(image, caption, transpose_b=True)
    return _order(image[:, None], caption[None])

  def pair_similarity(
    self,
    images: base.Images,
    captions: base.Captions,
    image_index: tf.Tensor,
    caption_index: tf.Tensor,
  ) -> tf.Tensor:
    image = tf.gather(images["image"], image_index)
    caption = tf.gather(captions["caption"], caption_index)
    if self.config.measure == "cosine":
      return tf.reduce_sum(image * caption, -1)
    return _order(image, caption)

  def attention(self, images: base.Images, captions: base.Captions) -> tf.Tensor:
    raise errors.UserError(
      "vsepp compares whole pictures with whole captions and has no attention; "
      "choose a matcher with attention, such as scan"
    )

  def _embed(self, x: tf.Tensor) -> tf.Tensor:
    unit = tf.math.divide_no_nan(x, normalize.l2_norm(x, keepdims=True))
    return tf.abs(unit) if self.config.absolute else unit


def _order(image: tf.Tensor, caption: tf.Tensor) -> tf.Tensor:
  return -normalize.l2_norm(tf.maximum(caption - image, 0.0))
