"""Where a detector looks, and how its numbers become boxes.

Every cell of every map is a point: its centre (x, y) and its stride s, as fractions of the canvas.
The network says (dx, dy, u, v) at a point, and the box is centred at

    (x + s dx, y + s dy)     with the size     (4 s exp(u), 4 s exp(v))

so that zeros mean a box four cells wide at the cell.
"""

import numpy as np
import tensorflow as tf

CELLS = 4.0  # Width of the box of zeros, in cells.
_LARGEST = 4.0  # exp(4) = 55: no box of the canvas needs more.


def points(size: int, strides: tuple[int, ...]) -> np.ndarray:
  """[P, 3] float32: centre x, centre y, stride of every cell, map after map, row by row."""
  rows = []
  for stride in strides:
    centres = (np.arange(size // stride) + 0.5) * stride / size
    y, x = np.meshgrid(centres, centres, indexing="ij")
    rows.append(np.stack([x, y, np.full_like(x, stride / size)], -1).reshape(-1, 3))
  return np.concatenate(rows).astype(np.float32)


def decode(code: tf.Tensor, at: tf.Tensor) -> tf.Tensor:
  """Boxes [..., P, 4] of the canvas from codes [..., P, 4] at points [P, 3]."""
  stride = at[:, 2:]
  centre = at[:, :2] + stride * code[..., :2]
  half = 0.5 * CELLS * stride * tf.exp(tf.minimum(code[..., 2:], _LARGEST))
  return tf.concat([centre - half, centre + half], -1)
