"""From attention to boxes: the region that each word looked at."""

import tensorflow as tf

# Regions with the same input (two with one label) get weights that differ by rounding, which
# depends on the size of the batch. The first of them must always win.
_TIE = 2e-6


def strongest_region(attention: tf.Tensor) -> tf.Tensor:
  """The first region with the largest weight, up to rounding: [..., R] -> int32 [...]."""
  largest = tf.reduce_max(attention, -1, keepdims=True)
  is_largest = attention >= (1 - _TIE) * largest
  return tf.argmax(tf.cast(is_largest, tf.int32), -1, output_type=tf.int32)


def word_boxes(
  attention: tf.Tensor, winners: tf.Tensor, boxes: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """The box of every word: it encloses the strongest regions of the winning branches.

  Args:
    attention: [B, T, K, R].
    winners: bool [B, T, K], at least one branch true.
    boxes: [B, R, 4], x1, y1, x2, y2.

  Returns:
    `box_index` int32 [B, T], the region of the first winning branch, and `box` [B, T, 4].
  """
  picks = strongest_region(attention)  # [B, T, K]
  first = tf.argmax(tf.cast(winners, tf.int32), -1, output_type=tf.int32)
  box_index = tf.gather(picks, first, batch_dims=2)
  picked = tf.gather(boxes, picks, batch_dims=1)  # [B, T, K, 4]
  won = winners[..., tf.newaxis]
  low = tf.reduce_min(tf.where(won, picked[..., :2], tf.float32.max), -2)
  high = tf.reduce_max(tf.where(won, picked[..., 2:], tf.float32.min), -2)
  return box_index, tf.concat([low, high], -1)


def branch_mean(attention: tf.Tensor, winners: tf.Tensor) -> tf.Tensor:
  """Mean attention of the winning branches: [B, T, K, R], bool [B, T, K] -> [B, T, R]."""
  share = tf.cast(winners, attention.dtype)  # [B, T, K]
  share /= tf.maximum(tf.reduce_sum(share, -1, keepdims=True), 1.0)
  return tf.einsum("btkr,btk->btr", attention, share)


def iou(boxes: tf.Tensor, others: tf.Tensor) -> tf.Tensor:
  """Overlap of every pair of boxes of a picture: [B, R, 4], [B, S, 4] -> [B, R, S]."""
  boxes, others = boxes[:, :, tf.newaxis], others[:, tf.newaxis]
  low = tf.maximum(boxes[..., :2], others[..., :2])
  high = tf.minimum(boxes[..., 2:], others[..., 2:])
  shared = tf.reduce_prod(tf.maximum(high - low, 0.0), -1)
  areas = [tf.reduce_prod(tf.maximum(b[..., 2:] - b[..., :2], 0.0), -1) for b in (boxes, others)]
  return tf.math.divide_no_nan(shared, areas[0] + areas[1] - shared)
