"""Class-agnostic non-maximum suppression, batched, with a fixed number of regions.

Boxes are taken best first. A taken box drops those that overlap it by more than `threshold`, and
lowers the scores of the others (Soft-NMS, Bodla et al., ICCV 2017, arXiv:1704.04503):

    score <- score * exp(-IoU^2 / sigma)        sigma = 0: scores stay as they are

One core TensorFlow operation does the work, so exported graphs run anywhere.
"""

import tensorflow as tf


def suppress(
  boxes: tf.Tensor, scores: tf.Tensor, regions: int, threshold: float = 0.5, sigma: float = 0.0
) -> tuple[tf.Tensor, tf.Tensor]:
  """Chooses at most R boxes of each picture, best first.

  Args:
    boxes: [B, P, 4].
    scores: [B, P]; boxes of score 0 or less are never chosen.
    regions: R.
    threshold: IoU above which the lesser box is dropped.
    sigma: width of the softer decay of scores; 0 for none.

  Returns:
    rows int32 [B, R] of the chosen boxes (0 where there is none), region_mask bool [B, R].
  """

  def one(picture: tuple[tf.Tensor, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    rows, _, count = tf.raw_ops.NonMaxSuppressionV5(
      boxes=picture[0],
      scores=picture[1],
      max_output_size=regions,
      iou_threshold=threshold,
      score_threshold=0.0,
      # The operation decays by exp(-IoU^2 / (2 s)).
      soft_nms_sigma=sigma / 2,
      pad_to_max_output_size=True,
    )
    return tf.ensure_shape(rows, [regions]), tf.range(regions) < count

  return tf.map_fn(one, (boxes, scores), fn_output_signature=(tf.int32, tf.bool))
