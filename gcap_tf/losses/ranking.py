"""Triplet ranking loss with hard negatives (Faghri et al., VSE++, BMVC 2018).

For a caption c with its picture i, S the similarity and m the margin,

    l(i, c) = [m - S(i, c) + S(i, c^)]+ + [m - S(i, c) + S(i^, c)]+        (POS-SCAN, Eq. 7)

c^ is the hardest caption of the batch that does not belong to i, i^ the hardest picture that
does not belong to c; with "sum" the loss adds all such captions and pictures. The loss of a
batch is the sum over its captions, never a mean: published learning rates and clipping
thresholds depend on that.

Hard negatives are sparse: at most 3 C of the I x C scores have a gradient. `hard_negatives`
finds them in scores without gradients, and `hinge` is the loss of these pairs, scored again.
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
  """The loss of a whole similarity matrix: the sum of l(i, c) over captions.

  Args:
    similarity: S, [I, C]; on several replicas, of the pictures and captions of all replicas.
    image_of_caption: int32 [C], the row of each caption's own picture.
    margin: m.
    negatives: the hardest negative, or the sum over all negatives.
    anchors: bool [C], captions whose loss counts (a replica's own); None for all.
    positives: bool [I, C], pairs that are never negatives; None for the captions' own
      pictures. Departure: in the released programs, other captions of the same picture in
      the batch are negatives; pass more positives to prevent that.

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

  For a caption without negatives (a batch of one picture) the result is a positive, whose
  hinge means nothing: callers drop it with `has_negatives`.
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
