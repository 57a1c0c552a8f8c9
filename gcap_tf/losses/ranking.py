"""Triplet ranking loss with hard negatives (Faghri et al., VSE++, BMVC 2018).

For a caption c with its picture i, S the similarity and m the margin,

    l(i, c) = [m - S(i, c) + S(i, c^)]+ + [m - S(i, c) + S(i^, c)]+        (POS-SCAN, Eq. 7)

where c^ and i^ are the hardest caption and picture of the batch that do not belong
together with i and c, or every such one ("sum"). Losses are added over the batch, never
averaged: published learning rates and the clipping threshold count on that.

Hard negatives are sparse: of I x C scores at most 3 C have a gradient. `hard_negatives`
finds them in scores without gradients, `hinge` is the loss of those scored again.
"""

from typing import Literal

import tensorflow as tf

Negatives = Literal["hardest", "sum"]


def triplet(
  similarity: tf.Tensor,
  image_of_caption: tf.Tensor,
  margin: float = 0.2,
  negatives: Negatives = "hardest",
  anchors: tf.Tensor | None = None,
  positives: tf.Tensor | None = None,
) -> tf.Tensor:
  """The loss of a whole similarity matrix.

  Args:
    similarity: S, [I, C]; of all replicas' pictures and captions where there are several.
    image_of_caption: int32 [C], the row of each caption's own picture.
    margin: m.
    negatives: the hardest one, or the sum over all.
    anchors: bool [C], captions whose loss counts here (a replica's own); None for all.
    positives: bool [I, C], pairs that are never negatives; None for the captions' own
      pictures. Departure: released programs let other captions of the same picture in
      the batch be negatives; pass more positives to stop that.

  Returns:
    Scalar: the sum over anchors.
  """
  positives = own_pairs(similarity, image_of_caption) if positives is None else positives
  own = _own_scores(similarity, image_of_caption)  # [C]
  with_captions = _hinge(tf.gather(similarity, image_of_caption), own[:, None], margin)  # [C, C]
  with_captions = _zero(with_captions, tf.gather(positives, image_of_caption))
  with_images = _zero(_hinge(similarity, own[None], margin), positives)  # [I, C]
  reduce = tf.reduce_max if negatives == "hardest" else tf.reduce_sum
  losses = reduce(with_captions, 1) + reduce(with_images, 0)
  return tf.reduce_sum(losses if anchors is None else _zero(losses, ~anchors))


def hard_negatives(
  similarity: tf.Tensor, image_of_caption: tf.Tensor, positives: tf.Tensor | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
  """The hardest caption c^ and picture i^ of each caption, int32 [C] each.

  A caption without any negative (a batch of one picture) is given a positive, whose
  hinge is then not a violation of anything: callers drop it with `has_negatives`.
  """
  positives = own_pairs(similarity, image_of_caption) if positives is None else positives
  masked = tf.where(positives, similarity.dtype.min, similarity)
  captions = tf.argmax(tf.gather(masked, image_of_caption), 1, output_type=tf.int32)
  return captions, tf.argmax(masked, 0, output_type=tf.int32)


def has_negatives(positives: tf.Tensor, image_of_caption: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Whether each caption has a negative caption, and a negative picture: bool [C] each."""
  captions = tf.reduce_any(~tf.gather(positives, image_of_caption), 1)
  return captions, tf.reduce_any(~positives, 0)


def hinge(own: tf.Tensor, negative: tf.Tensor, margin: float, counted: tf.Tensor) -> tf.Tensor:
  """sum_c [m - own_c + negative_c]+ over the captions that are `counted`: scalar."""
  return tf.reduce_sum(_zero(_hinge(negative, own, margin), ~counted))


def own_pairs(similarity: tf.Tensor, image_of_caption: tf.Tensor) -> tf.Tensor:
  """Whether picture and caption belong together: bool [I, C]."""
  return tf.range(tf.shape(similarity)[0])[:, None] == image_of_caption[None]


def _own_scores(similarity: tf.Tensor, image_of_caption: tf.Tensor) -> tf.Tensor:
  captions = tf.range(tf.shape(similarity)[1])
  return tf.gather_nd(similarity, tf.stack([image_of_caption, captions], 1))


def _hinge(negative: tf.Tensor, own: tf.Tensor, margin: float) -> tf.Tensor:
  return tf.nn.relu(margin + negative - own)


def _zero(values: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
  return tf.where(mask, tf.zeros_like(values), values)
