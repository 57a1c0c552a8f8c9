"""The common part of matchers with cross attention: encoders, directions, pairs, fragments.

A model names its `directions` and defines in `energies` how queries weigh keys; this class
derives attention maps and the fragments for CCR and CCS. A model that also defines `score`
gets the scores of all pairs and of chosen pairs. "t2i": words attend to regions; "i2t":
regions attend to words.
"""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.layers import cross_attention, region_encoder, region_input, text_encoder
from gcap_tf.matchers import base

Direction = Literal["t2i", "i2t"]
START_ID, END_ID = 1, 2


@dataclasses.dataclass(frozen=True)
class EncoderConfig(base.MatcherConfig):
  """Options of the encoders that all matchers with attention have.

  Attributes:
    num_labels: number of region labels that the model reads; 0 if it reads none.
    label_size: size of a label's embedding.
    bidirectional: read captions in both directions (all published runs do).
    normalise_regions, normalise_words: unit vectors in the joint space.
    region_layer: "basic", or "weight_norm" with one gain for the whole matrix.
  """

  num_labels: configs.Count = 0
  label_size: configs.PositiveInt = 300
  bidirectional: bool = True
  normalise_regions: bool = True
  normalise_words: bool = True
  region_layer: region_encoder.RegionEncoderKind = "basic"


class AttentionMatcher(base.Matcher):
  """A matcher with attention between words and regions."""

  def __init__(self, config: EncoderConfig, **kwargs: Any):
    super().__init__(config, **kwargs)
    self.region_input = region_input.RegionInput(
      config.feature_size, config.num_labels, config.label_size, name="region_input"
    )
    self.region_encoder = self.make_region_encoder()
    self.text_encoder = self.make_text_encoder()

  def make_region_encoder(self) -> region_encoder.RegionEncoder:
    config = self.config
    return region_encoder.RegionEncoder(
      self.region_input.size, config.joint_size, config.region_layer, config.normalise_regions
    )

  def make_text_encoder(self) -> text_encoder.TextEncoder:
    config = self.config
    return text_encoder.TextEncoder(
      config.vocabulary_size,
      config.word_size,
      config.joint_size,
      config.bidirectional,
      config.normalise_words,
    )

  @property
  @abc.abstractmethod
  def directions(self) -> tuple[Direction, ...]:
    """Directions in which the model attends."""

  @abc.abstractmethod
  def energies(self, direction: Direction, affinities: cross_attention.Affinities) -> tf.Tensor:
    """Attention up to a factor for each query, [X, N, M, Y]; 0 on padding keys."""

  def word_scope(self, captions: base.Captions) -> tf.Tensor:
    """Words that take part in attention, bool [C, T]."""
    return captions["word_mask"]

  def scored_words(self, captions: base.Captions) -> tf.Tensor:
    """Words whose relevance counts in the score of a pair, bool [C, T]."""
    return self.word_scope(captions)

  def encode_images(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Images:
    del seed  # No dropout here.
    features, region_mask = self.region_input(batch), batch["region_mask"]
    region_encoder.check_feature_size(features, self.region_input.size)
    return {"regions": self.region_encoder(features, region_mask), "region_mask": region_mask}

  def encode_captions(self, batch: base.Batch, seed: tf.Tensor | None = None) -> base.Captions:
    words = self.text_encoder(batch["tokens"], batch["token_mask"], seed)
    return {
      "words": words,
      "word_mask": batch["token_mask"],
      "noun_mask": batch["noun_mask"],
      "tokens": batch["tokens"],
    }

  def attention(self, images: base.Images, captions: base.Captions) -> tf.Tensor:
    """Weights of matched pairs, [B, T, R].

    A model without a "t2i" direction returns its "i2t" weights, normalised over the regions
    of each word so that rows sum to 1.
    """
    direction = "t2i" if "t2i" in self.directions else "i2t"
    affinities = self._affinities(direction, images, captions, cross_attention.matched_pairs)
    weights = cross_attention.weights(self.energies(direction, affinities))[..., 0]
    if direction == "i2t":
      real = tf.cast(images["region_mask"], weights.dtype)[:, None]
      weights = weights * real  # [B, T, R]
      weights = tf.math.divide_no_nan(weights, tf.reduce_sum(weights, -1, keepdims=True))
    else:
      weights = tf.transpose(weights, [0, 2, 1])
    return weights * tf.cast(self.scored_words(captions), weights.dtype)[..., None]

  def fragments(
    self, images: base.Images, captions: base.Captions
  ) -> list[cross_attention.AttendedFragments]:
    found = []
    for direction in self.directions:
      affinities = self._affinities(direction, images, captions, cross_attention.matched_pairs)
      if direction == "t2i":
        tokens = captions["tokens"]
        eligible = self.scored_words(captions) & (tokens != START_ID) & (tokens != END_ID)
        ids = tokens
      else:
        eligible = images["region_mask"]
        ids = tf.fill(tf.shape(eligible), -1)
      energies = self.energies(direction, affinities)
      found.append(cross_attention.attended_fragments(affinities, energies, eligible, ids))
    return found

  def _affinities(
    self,
    direction: Direction,
    images: base.Images,
    captions: base.Captions,
    pairing: Callable[..., cross_attention.Affinities],
  ) -> cross_attention.Affinities:
    regions = cross_attention.Fragments(images["regions"], images["region_mask"])
    words = cross_attention.Fragments(
      captions["words"], self.word_scope(captions), self.scored_words(captions)
    )
    keys, queries = (regions, words) if direction == "t2i" else (words, regions)
    return pairing(keys, queries)


class RelevanceMatcher(AttentionMatcher):
  """A matcher that scores a pair by the relevance of each query to its attended keys."""

  @abc.abstractmethod
  def score(
    self, direction: Direction, affinities: cross_attention.Affinities, energies: tf.Tensor
  ) -> tf.Tensor:
    """Scores of pairs in one direction, [X, Y]; the scores of all directions are added."""

  def similarity(
    self, images: base.Images, captions: base.Captions, training: bool = False
  ) -> tf.Tensor:
    del training  # No batch statistics here.
    total = 0.0
    for direction in self.directions:
      affinities = self._affinities(direction, images, captions, cross_attention.all_pairs)
      scores = self.score(direction, affinities, self.energies(direction, affinities))
      total += scores if direction == "t2i" else tf.transpose(scores)  # [I, C]
    return total

  def pair_similarity(
    self,
    images: base.Images,
    captions: base.Captions,
    image_index: tf.Tensor,
    caption_index: tf.Tensor,
  ) -> tf.Tensor:
    images, captions = base.take(images, image_index), base.take(captions, caption_index)
    total = 0.0
    for direction in self.directions:
      affinities = self._affinities(direction, images, captions, cross_attention.matched_pairs)
      total += self.score(direction, affinities, self.energies(direction, affinities))[:, 0]
    return total
