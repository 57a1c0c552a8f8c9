"""Exact area averages of maps inside boxes (RoIAlign with every cell weighed by its overlap).

A map is constant inside a cell, so the average over a bin is a sum over cells,

    v = sum_y sum_x wy[y] wx[x] map[y, x]      wy, wx: overlap of the bin with the cell's
                                                rows and columns, each summing to 1

which is two small matrix products. No sampling points, no dependence on other boxes.
"""

import tensorflow as tf

_LEAST = 1e-3  # A bin is at least so wide, as a fraction of the canvas.


def average(maps: tf.Tensor, boxes: tf.Tensor, bins: int = 1) -> tf.Tensor:
  """[B, R, bins * bins * C] averages of maps [B, H, W, C] inside boxes [B, R, 4] of the canvas."""
  batch, height, width, channels = tf.unstack(tf.shape(maps))
  regions = tf.shape(boxes)[1]
  across = _overlaps(boxes[..., 0], boxes[..., 2], width, bins)  # [B, R * bins, W]
  down = _overlaps(boxes[..., 1], boxes[..., 3], height, bins)  # [B, R * bins, H]
  rows = tf.matmul(down, tf.reshape(maps, [batch, height, width * channels]))
  rows = tf.reshape(rows, [batch, regions, bins, width, channels])
  across = tf.reshape(across, [batch, regions, 1, bins, width])
  cells = tf.matmul(tf.broadcast_to(across, [batch, regions, bins, bins, width]), rows)
  flat = bins * bins * maps.shape[-1]
  return tf.reshape(cells, [batch, regions, flat])


def _overlaps(low: tf.Tensor, high: tf.Tensor, cells: tf.Tensor, bins: int) -> tf.Tensor:
  """Weights [B, R * bins, cells] of the cells of one axis for each bin."""
  low = tf.clip_by_value(low, 0.0, 1.0 - _LEAST)
  high = tf.maximum(tf.minimum(high, 1.0), low + _LEAST)
  step = (high - low)[..., None] / bins  # [B, R, 1]
  starts = low[..., None] + step * tf.range(bins, dtype=low.dtype)  # [B, R, bins]
  count = tf.cast(cells, low.dtype)
  edges = tf.range(count, dtype=low.dtype) / count
  inside = tf.minimum((starts + step)[..., None], edges + 1 / count)
  inside = tf.maximum(inside - tf.maximum(starts[..., None], edges), 0.0)  # [B, R, bins, cells]
  weights = inside / tf.reduce_sum(inside, -1, keepdims=True)
  return tf.reshape(weights, [tf.shape(low)[0], -1, cells])
