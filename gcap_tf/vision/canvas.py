"""The canvas: a square of fixed size on which a photograph is placed with its aspect kept.

    s = min(S / height, S / width)    the photograph becomes round(s * height) x round(s * width)

by bilinear interpolation (antialiased when it shrinks), lies in the top left corner, and the rest
is grey. The size is fixed, so an answer never depends on the other pictures of a batch. The
same TensorFlow operations run in Python, in `tf.data` and in an exported graph.

Boxes are x1, y1, x2, y2 from 0 to 1, of the picture or of the canvas; `content` [..., 2] holds the
width and the height of the photograph as fractions of the canvas.
"""

import tensorflow as tf

SIZE = 384
GREY = 127.0


def place(
  image: tf.Tensor, size: int = SIZE, share: float | tf.Tensor = 1.0
) -> tuple[tf.Tensor, tf.Tensor]:
  """Places a photograph on its canvas.

  Args:
    image: [height, width, 3] uint8 (or float from 0 to 255).
    size: S, side of the canvas in pixels.
    share: of the canvas that the longer side fills.

  Returns:
    canvas [S, S, 3] float32 from 0 to 255, and content [2] float32 (width, height).
  """
  image = tf.convert_to_tensor(image)
  sides = tf.shape(image)[:2]
  scale = tf.cast(share, tf.float64) * (size / tf.reduce_max(sides))
  inner = tf.round(tf.cast(sides, tf.float64) * scale)
  inner = tf.clip_by_value(tf.cast(inner, tf.int32), 1, size)
  resized = tf.image.resize(image, inner, antialias=True)
  missing = size - inner
  canvas = tf.pad(resized, [[0, missing[0]], [0, missing[1]], [0, 0]], constant_values=GREY)
  content = tf.cast(tf.reverse(inner, [0]), tf.float32) / size
  return tf.ensure_shape(canvas, [size, size, 3]), content


def to_canvas(boxes: tf.Tensor, content: tf.Tensor) -> tf.Tensor:
  """Boxes [..., R, 4] of the picture as boxes of the canvas; content [..., 2]."""
  return boxes * _sides(content)


def to_picture(boxes: tf.Tensor, content: tf.Tensor) -> tf.Tensor:
  """Boxes [..., R, 4] of the canvas as boxes of the picture, cut at its edges."""
  return tf.clip_by_value(boxes / _sides(content), 0.0, 1.0)


def _sides(content: tf.Tensor) -> tf.Tensor:
  return tf.concat([content, content], -1)[..., None, :]  # [..., 1, 4]
