"""Which cells learn which annotated box.

A cell is a candidate of a box if its centre is within `radius` cells of the box's centre
and the box has a size that the cell's map is made for. If several boxes want a cell, the smallest
gets it.
"""

import numpy as np
import tensorflow as tf

from gcap_tf.vision import overlaps

# Sizes (square root of the area, as a fraction of the canvas) that each stride learns.
SIZES = {8: (0.0, 0.2), 16: (0.125, 0.47), 32: (0.31, np.inf)}
RADIUS = 1.5
_NEVER = 1e9


def size_limits(points: np.ndarray, canvas: int) -> tuple[np.ndarray, np.ndarray]:
  """Least and largest size [P] that each point learns."""
  strides = np.rint(points[:, 2] * canvas).astype(int)
  limits = np.array([SIZES[stride] for stride in strides], np.float32)
  return limits[:, 0], np.minimum(limits[:, 1], _NEVER)


def assign(
  boxes: tf.Tensor,
  box_mask: tf.Tensor,
  points: tf.Tensor,
  limits: tuple[tf.Tensor, tf.Tensor],
  radius: float = RADIUS,
) -> tuple[tf.Tensor, tf.Tensor]:
  """Gives cells their boxes.

  Args:
    boxes: [B, N, 4] annotated boxes of the canvas.
    box_mask: bool [B, N].
    points: [P, 3], see `box_coding.points`.
    limits: see `size_limits`.
    radius: in cells.

  Returns:
    rows int32 [B, P] of the boxes, positive bool [B, P].
  """
  centres = (boxes[..., :2] + boxes[..., 2:]) / 2
  sizes = tf.sqrt(overlaps.area(boxes))[:, None]  # [B, 1, N]
  near = box_mask[:, None]  # [B, 1, N]
  for axis in (0, 1):
    away = tf.abs(points[:, axis, None] - centres[:, None, :, axis])  # [B, P, N]
    near &= away < radius * points[:, 2, None]
  least, largest = (limit[:, None] for limit in limits)
  wanted = near & (sizes >= least) & (sizes < largest)
  cost = tf.where(wanted, sizes, _NEVER)
  return tf.argmin(cost, -1, tf.int32), tf.reduce_any(wanted, -1)
