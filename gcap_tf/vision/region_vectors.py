"""What is known of a region before it is named: one vector of raw averages.

    map 8    average                         map 16   2 x 2 averages
    map 32   average                         map 16, map 32 of the box twice as wide and high
    map 32 of the whole photograph           8 numbers of geometry
    two RGB histograms (colour_histogram.py)

Nothing here is learned.
"""

import tensorflow as tf

from gcap_tf.vision import colour_histogram, roi_average

_BINS = 2
GEOMETRY = 8
_LEAST = 1e-3


def size(channels: dict[int, int]) -> int:
  """Numbers of a vector for maps with these channels."""
  fine, middle, coarse = (channels[stride] for stride in sorted(channels))
  maps = fine + (_BINS * _BINS + 1) * middle + 3 * coarse
  return maps + GEOMETRY + colour_histogram.SIZE


def vectors(
  maps: dict[int, tf.Tensor], picture: tf.Tensor, boxes: tf.Tensor, content: tf.Tensor
) -> tf.Tensor:
  """Describes regions.

  Args:
    maps: {stride: [B, S/stride, S/stride, C]}, three of them.
    picture: [B, S/4, S/4, 3], see `colour_histogram.small_picture`.
    boxes: [B, R, 4] of the canvas.
    content: [B, 2] of the canvas.

  Returns:
    [B, R, size(channels)].
  """
  fine, middle, coarse = (maps[stride] for stride in sorted(maps))
  corner = tf.concat([content, content], -1)[:, None]  # [B, 1, 4]
  centre, sides = (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]
  around = tf.clip_by_value(tf.concat([centre - sides, centre + sides], -1), 0.0, corner)
  whole = tf.concat([tf.zeros_like(content), content], -1)[:, None]
  everything = roi_average.average(coarse, whole)  # [B, 1, C]
  shape = [tf.shape(boxes)[0], tf.shape(boxes)[1], coarse.shape[-1]]
  return tf.concat(
    [
      roi_average.average(fine, boxes),
      roi_average.average(middle, boxes, _BINS),
      roi_average.average(coarse, boxes),
      roi_average.average(middle, around),
      roi_average.average(coarse, around),
      tf.broadcast_to(everything, shape),
      _geometry(centre, sides, content),
      colour_histogram.histograms(picture, boxes),
    ],
    -1,
  )


def _geometry(centre: tf.Tensor, sides: tf.Tensor, content: tf.Tensor) -> tf.Tensor:
  """[B, R, 8]: place and size in the photograph, side of the square of equal area, aspects."""
  content = content[:, None]
  sides = tf.maximum(sides, _LEAST)
  side = tf.sqrt(tf.reduce_prod(sides, -1, keepdims=True))
  aspect = tf.math.log(sides[..., :1] / sides[..., 1:])
  picture = tf.broadcast_to(content, tf.shape(centre))
  return tf.concat([centre / content, sides / content, side, aspect, picture], -1)
