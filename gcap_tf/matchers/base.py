"""The matcher contract: how well a caption fits a picture, and which regions its words attend to.

A matcher is a Keras model (`gcap_tf/keras_model.py`); `fit` trains it on the ranking loss alone.
Training, evaluation, rewards and export use what is declared here and nothing else, so a new
matcher needs no change outside its own file and the catalog.
"""

import abc
import dataclasses
from typing import Any, ClassVar

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import keras_model, registry
from gcap_tf.layers import cross_attention
from gcap_tf.losses import ranking

MATCHERS: registry.Registry[type["Matcher"]] = registry.Registry("matcher")

Batch = dict[str, tf.Tensor]
Images = dict[str, tf.Tensor]
Captions = dict[str, tf.Tensor]


@dataclasses.dataclass(frozen=True)
class MatcherConfig:
  """Options of every matcher.

  Attributes:
    vocabulary_size: V, the special tokens included.
    feature_size: D of a region; 0 if regions carry labels only.
    word_size: E.
    joint_size: J.
  """

  vocabulary_size: configs.PositiveInt
  feature_size: configs.Count = 2048
  word_size: configs.PositiveInt = 300
  joint_size: configs.PositiveInt = 1024
  # Inputs that a matcher does not read unless its own options say so.
  num_labels: ClassVar[int] = 0
  global_size: ClassVar[int] = 0
  global_is_mean: ClassVar[bool] = False


class Matcher(keras_model.ConfiguredModel):
  """Scores pairs of a picture and a caption, and attends from words to regions.

  `seed` is int32 [2] in training (dropout), None otherwise. `training` selects the
  statistics of the batch in models that have batch normalisation (SGRAF).

  Captions arrive wrapped: `tokens` [C, T] is `<start> w1 .. wn <end> <pad> ..`,
  `token_mask` [C, T] is true on all but the padding, `noun_mask` [C, T] on nouns.
  """

  Config: ClassVar[type[MatcherConfig]]
  # False if a model has no attention from words to regions (VSE++).
  attends: ClassVar[bool] = True
  # True if a model reads the places of regions, as `position_blocks` of the batch (PFAN).
  reads_positions: ClassVar[bool] = False
  # True if the captions of the released data are word ids, `{split}_precaps.txt` (BFAN).
  captions_as_ids: ClassVar[bool] = False

  @abc.abstractmethod
  def encode_images(self, batch: Batch, seed: tf.Tensor | None = None) -> Images:
    """Embeds regions: at least `regions` [I, R, J] and `region_mask` [I, R].

    A model without attention gives one vector a picture, `image` [I, J], besides.
    """

  @abc.abstractmethod
  def encode_captions(self, batch: Batch, seed: tf.Tensor | None = None) -> Captions:
    """Embeds words: at least `words` [C, T, J], `word_mask` [C, T] and `noun_mask` [C, T].

    A model without attention gives one vector a caption, `caption` [C, J], besides.
    """

  @abc.abstractmethod
  def similarity(self, images: Images, captions: Captions, training: bool = False) -> tf.Tensor:
    """Scores of all pairs, float32 [I, C]; `matchers/blocks.py` scores many in blocks."""

  @abc.abstractmethod
  def pair_similarity(
    self,
    images: Images,
    captions: Captions,
    image_index: tf.Tensor,
    caption_index: tf.Tensor,
  ) -> tf.Tensor:
    """Scores of chosen pairs, float32 [P].

    Args:
      images, captions: encoded.
      image_index, caption_index: int32 [P], the pairs.
    """

  @abc.abstractmethod
  def attention(self, images: Images, captions: Captions) -> tf.Tensor:
    """Attention of matched pairs (I = C), float32 [B, T, R].

    Rows sum to 1 over real regions and are 0 on padding regions, padding words
    and words that the model does not attend from (POS-SCAN: all but nouns).
    """

  def fragments(
    self, images: Images, captions: Captions
  ) -> list[cross_attention.AttendedFragments]:
    """Attention of matched pairs (I = C) in the form that CCR and CCS read.

    Returns:
      One entry for each direction of attention; none without attention.
    """
    del images, captions
    return []

  @property
  def pairs_are_independent(self) -> bool:
    """Whether the training score of a pair depends on that pair alone.

    If so, training with hard negatives scores all pairs without gradients and scores only
    the hardest ones again with them.
    """
    return True

  @property
  def noun_tags(self) -> tuple[str, ...]:
    """Universal parts of speech that `noun_mask` must mark; () if the model ignores it."""
    return ()

  @property
  def max_regions(self) -> int | None:
    """The most regions that a picture can have; None if there is no limit."""
    return None

  @property
  def batch_options(self) -> dict[str, Any]:
    """Options that batches for this model need, by name in `pipeline.BatchConfig`."""
    options: dict[str, Any] = {"position_blocks": self.reads_positions}
    return {**options, "noun_tags": self.noun_tags} if self.noun_tags else options

  def call(self, batch: Batch, training: bool = False) -> tf.Tensor:
    """Scores every picture of a batch with every caption, float32 [I, C].

    In training, dropout depends on the number of optimiser steps so far (0 before `compile`).
    """
    seed = self.step_seed() if training else None
    images, captions = self.encode_images(batch, seed), self.encode_captions(batch, seed)
    return self.similarity(images, captions, training=training)

  def fit_loss(self, batch: Batch, training: bool) -> tf.Tensor:
    """The ranking loss with the hardest negatives, added over the captions of the batch."""
    similarity = self(batch, training=training)
    images, captions = tf.unstack(tf.shape(similarity))
    return ranking.triplet(similarity, own_pictures(images, captions))


# Tensors of encoded captions whose second axis is T.
PER_WORD = ("words", "word_mask", "noun_mask", "tokens")


def take(encoded: dict[str, tf.Tensor], index: tf.Tensor) -> dict[str, tf.Tensor]:
  """Rows of encoded pictures or captions: every tensor gathered along its first axis."""
  return {name: tf.gather(tensor, index) for name, tensor in encoded.items()}


def own_pictures(images: tf.Tensor, captions: tf.Tensor) -> tf.Tensor:
  """The picture of each caption in a picture-major batch of so many of each, int32 [C]."""
  return tf.range(captions) // (captions // images)
