"""RGB histograms of boxes, of sampled pixels.

A box is sampled on a grid of 16 x 16 points. Each channel is split over the two nearest of 6
levels, so a histogram has 6 x 6 x 6 bins and moves smoothly with the colour. There are two: all
points alike, and points weighed towards the middle, where the thing is rather than what is
behind it. Square roots of the shares are returned (Hellinger's distance).
"""

import numpy as np
import tensorflow as tf

GRID = 16
LEVELS = 6
POOL = 4  # Pixels are averaged over 4 x 4 before sampling.
SIZE = 2 * LEVELS**3


def small_picture(canvas: tf.Tensor) -> tf.Tensor:
  """[B, S/4, S/4, 3] averages of a canvas [B, S, S, 3]."""
  return tf.nn.avg_pool2d(canvas, POOL, POOL, "VALID")


def histograms(picture: tf.Tensor, boxes: tf.Tensor) -> tf.Tensor:
  """[B, R, 432] of a small picture [B, s, s, 3] (0 to 255) inside boxes [B, R, 4] of the canvas."""
  colours = _samples(picture, boxes)  # [B, R, 256, 3]
  position = colours * ((LEVELS - 1) / 255.0)
  shares = tf.maximum(1.0 - tf.abs(position[..., None] - tf.range(LEVELS, dtype=tf.float32)), 0.0)
  red, green, blue = tf.unstack(shares, axis=-2)  # [B, R, 256, 6] each
  red_green = red[..., :, None] * green[..., None, :]
  sides = tf.concat([tf.shape(red)[:-1], [LEVELS * LEVELS]], 0)
  red_green = tf.reshape(red_green, sides)  # [B, R, 256, 36]
  weighed = tf.concat([blue * weight[:, None] for weight in _weights()], -1)  # [B, R, 256, 12]
  counts = tf.matmul(red_green, weighed, transpose_a=True)  # [B, R, 36, 12]
  return tf.sqrt(tf.reshape(counts, tf.concat([tf.shape(counts)[:2], [SIZE]], 0)) + 1e-8)


def _samples(picture: tf.Tensor, boxes: tf.Tensor) -> tf.Tensor:
  """Nearest pixels at the middles of GRID x GRID parts of each box: [B, R, 256, 3]."""
  side = tf.shape(picture)[1]
  steps = (tf.range(GRID, dtype=tf.float32) + 0.5) / GRID
  scale = tf.cast(side, tf.float32)

  def pixels(low: tf.Tensor, high: tf.Tensor) -> tf.Tensor:
    at = (low[..., None] + (high - low)[..., None] * steps) * scale
    return tf.clip_by_value(tf.cast(tf.floor(at), tf.int32), 0, side - 1)  # [B, R, 16]

  x = pixels(boxes[..., 0], boxes[..., 2])
  y = pixels(boxes[..., 1], boxes[..., 3])
  flat = y[..., :, None] * side + x[..., None, :]  # [B, R, 16, 16]
  shape = tf.shape(flat)
  flat = tf.reshape(flat, [shape[0], shape[1], GRID * GRID])
  return tf.gather(tf.reshape(picture, [shape[0], -1, 3]), flat, batch_dims=1)


def _weights() -> list[np.ndarray]:
  """[256] weights of the points, each summing to 1: all alike, and towards the middle."""
  offsets = (np.arange(GRID) + 0.5) / GRID - 0.5
  bell = np.exp(-0.5 * (offsets / 0.2) ** 2)
  middle = np.outer(bell, bell).ravel()
  return [
    np.full(GRID * GRID, 1 / GRID**2, np.float32),
    (middle / middle.sum()).astype(np.float32),
  ]
