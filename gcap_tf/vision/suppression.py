"""Class-agnostic non-maximum suppression, batched, with a fixed number of regions.

Boxes are taken best first. A taken box drops those that overlap it by more than `threshold`. With
sigma above 0, a second pass puts those that are left in another order: a taken box lowers the
scores of the others (Soft-NMS, Bodla et al., ICCV 2017, arXiv:1704.04503):

    score <- score * exp(-IoU^2 / sigma)

so that the first R cover more of the picture, its small things above all. Both passes are one core
TensorFlow operation, so exported graphs run anywhere. They cannot be one pass: with a sigma the
operation keeps boxes above the threshold.
"""

import tensorflow as tf

_POOL = 3  # times R, boxes that the second pass orders


def suppress(
  boxes: tf.Tensor, scores: tf.Tensor, regions: int, threshold: float = 0.5, sigma: float = 0.0
) -> tuple[tf.Tensor, tf.Tensor]:
  """Chooses at most R boxes of each picture, best first.

  Args:
    boxes: [B, P, 4].
    scores: [B, P]; boxes of score 0 or less are never chosen.
    regions: R.
    threshold: IoU above which the lesser box is dropped.
    sigma: width of the decay of scores; 0 for none.

  Returns:
    rows int32 [B, R] of the chosen boxes (0 where there is none), region_mask bool [B, R].
  """

  pool = min(_POOL * regions, boxes.shape[1] or _POOL * regions) if sigma else regions

  def one(picture: tuple[tf.Tensor, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    rows, count = _select(*picture, pool, threshold, 0.0)
    if sigma:
      left, scores = (tf.gather(values, rows) for values in picture)
      scores = tf.where(tf.range(pool) < count, scores, 0.0)
      order, count = _select(left, scores, regions, 1.0, sigma)
      rows = tf.gather(rows, order)
    return tf.ensure_shape(rows, [regions]), tf.range(regions) < count

  return tf.map_fn(one, (boxes, scores), fn_output_signature=(tf.int32, tf.bool))


def _select(
  boxes: tf.Tensor, scores: tf.Tensor, most: int, threshold: float, sigma: float
) -> tuple[tf.Tensor, tf.Tensor]:
  """Rows [most] of the chosen boxes of one picture, and how many there are."""
  rows, _, count = tf.raw_ops.NonMaxSuppressionV5(
    boxes=boxes,
    scores=scores,
    max_output_size=most,
    iou_threshold=threshold,
    score_threshold=0.0,
    soft_nms_sigma=sigma / 2,  # The operation decays by exp(-IoU^2 / (2 s)).
    pad_to_max_output_size=True,
  )
  return rows, count
