"""The matcher contract: how well does a caption fit a picture, and where does each word look?"""

import abc
from typing import Any, ClassVar

import keras
import tensorflow as tf

from gcap_tf import registry
from gcap_tf.layers import cross_attention

MATCHERS: registry.Registry[type["Matcher"]] = registry.Registry("matcher")

Batch = dict[str, tf.Tensor]
Images = dict[str, tf.Tensor]
Captions = dict[str, tf.Tensor]


class Matcher(keras.Model, abc.ABC):
  """Scores picture-caption pairs and attends from words to regions.

  A subclass names its frozen dataclass of options in `Config` and is built as
  `cls(config)`. `seed` is int32 [2] in training (dropout), None otherwise.

  `training` asks for the batch statistics of models that have them (SGRAF).

  Captions arrive wrapped: `tokens` [C, T] is `<start> w1 .. wn <end> <pad> ..`,
  `token_mask` [C, T] is true on all but the padding, `noun_mask` [C, T] on nouns.
  """

  Config: ClassVar[type]
  # False where a model has no attention from words to regions (VSE++).
  attends: ClassVar[bool] = True
  # True where a model reads where regions are, as `position_blocks` of the batch (PFAN).
  reads_positions: ClassVar[bool] = False

  def __init__(self, config: Any, **kwargs: Any):
    super().__init__(**kwargs)
    self.config = config

  @property
  def batch_options(self) -> dict[str, Any]:
    """Options that batches for this model need, by name in `pipeline.BatchConfig`."""
    return {"position_blocks": self.reads_positions}

  @abc.abstractmethod
  def encode_images(self, batch: Batch, seed: tf.Tensor | None = None) -> Images:
    """Embeds regions: at least `regions` [I, R, J] and `region_mask` [I, R]."""

  @abc.abstractmethod
  def encode_captions(self, batch: Batch, seed: tf.Tensor | None = None) -> Captions:
    """Embeds words: at least `words` [C, T, J], `word_mask` [C, T] and `noun_mask` [C, T]."""

  @abc.abstractmethod
  def similarity(self, images: Images, captions: Captions, training: bool = False) -> tf.Tensor:
    """Scores of all pairs, float32 [I, C]."""

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

  @property
  def pairs_are_independent(self) -> bool:
    """Whether the training score of a pair depends on that pair alone.

    Where it does, hard-negative training may score all pairs without gradients and
    score the few that matter again with them.
    """
    return True

  def fragments(
    self, images: Images, captions: Captions
  ) -> list[cross_attention.AttendedFragments]:
    """Attention of matched pairs (I = C) as CCR and CCS see it, one entry a direction."""
    del images, captions
    return []


# Tensors of encoded captions whose second axis is T.
PER_WORD = ("words", "word_mask", "noun_mask", "tokens")


def take(encoded: dict[str, tf.Tensor], index: tf.Tensor) -> dict[str, tf.Tensor]:
  """Rows of encoded pictures or captions: every tensor gathered along its first axis."""
  return {name: tf.gather(tensor, index) for name, tensor in encoded.items()}
