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


def frame_boxes(
  attention: tf.Tensor,
  winners: tf.Tensor,
  boxes: tf.Tensor,
  frame: tf.Tensor,
  num_frames: int,
  eliminate: bool = True,
  branches: int | None = None,
) -> tf.Tensor:
  """The box of every word in every frame: it encloses the picks of the winning branches there.

  In each frame a branch picks its strongest region; with `eliminate`, none that an earlier branch
  picked, as long as there is another. A frame without regions has a box of zeros.

  Args:
    attention: [B, T, K, R]; no weight is below 0, padding has 0.
    winners: bool [B, T, K], at least one branch true.
    boxes: [B, R, 4].
    frame: int32 [B, R], -1 on padding.
    num_frames: F.
    eliminate: whether branches exclude each other.
    branches: K, if the shape of `attention` does not say.

  Returns:
    [B, T, F, 4].
  """
  alphas, wins = (tf.unstack(x, branches, axis=2) for x in (attention, winners))
  found = []
  for number in range(num_frames):
    here = (frame == number)[:, tf.newaxis]  # [B, 1, R]
    free, low, high = here, tf.float32.max, tf.float32.min
    for alpha, won in zip(alphas, wins, strict=True):
      left = tf.where(tf.reduce_any(free, -1, keepdims=True), free, here)
      pick = strongest_region(tf.where(left, alpha, -1.0))  # [B, T]
      box = tf.gather(boxes, pick, batch_dims=1)  # [B, T, 4]
      low = tf.minimum(low, tf.where(won[..., tf.newaxis], box[..., :2], tf.float32.max))
      high = tf.maximum(high, tf.where(won[..., tf.newaxis], box[..., 2:], tf.float32.min))
      if eliminate:
        free &= ~tf.one_hot(pick, tf.shape(alpha)[-1], on_value=True, off_value=False)
    seen = tf.reduce_any(here, -1)[..., tf.newaxis]  # [B, 1, 1]
    found.append(tf.where(seen, tf.concat([low, high], -1), 0.0))
  return tf.stack(found, 2)


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
