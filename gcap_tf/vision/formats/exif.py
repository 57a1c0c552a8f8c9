"""The orientation that a camera writes into a picture (EXIF tag 0x0112), in the graph.

Phones save the sensor's rows as they are and note how the picture must be turned:

    1 as it is      2 mirrored         3 turned by 180     4 mirrored top to bottom
    5 transposed    6 turned right     7 transverse        8 turned left
"""

import tensorflow as tf

from gcap_tf.vision.formats import byte_fields

_TAG = 0x0112
_ENTRY = 12  # bytes of an entry of the table
_MOST_ENTRIES = 64  # cameras write about 12


def orientation(raw: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
  """The orientation in a TIFF block at `start`, 1 if there is none; a scalar int32.

  Args:
    raw: [n + 1] uint8, see `byte_fields.raw_bytes`.
    start: where the block starts ("II*" or "MM" and a zero); 0 if the file has none.
  """
  head = byte_fields.take(raw, start, 8)
  little = byte_fields.equal(head[:4], b"II*\0")
  known = little | byte_fields.equal(head[:4], b"MM\0*")

  def number(values: tf.Tensor) -> tf.Tensor:
    return tf.where(little, byte_fields.little_endian(values), byte_fields.big_endian(values))

  table = start + number(head[4:8])
  count = number(byte_fields.take(raw, table, 2))
  rows = tf.reshape(byte_fields.take(raw, table + 2, _MOST_ENTRIES * _ENTRY), [-1, _ENTRY])
  found = (number(rows[:, :2]) == _TAG) & (tf.range(_MOST_ENTRIES) < count)
  value = tf.reduce_max(tf.where(found, number(rows[:, 8:10]), 0))
  return tf.where(known & (start > 0) & (value >= 1) & (value <= 8), value, 1)


def upright(image: tf.Tensor, turn: tf.Tensor) -> tf.Tensor:
  """Turns [H, W, C] as its orientation `turn` says."""

  def turned() -> tf.Tensor:
    found = tf.cond(turn >= 5, lambda: tf.transpose(image, [1, 0, 2]), lambda: image)
    for axis, turns in ((1, (2, 3, 6, 7)), (0, (3, 4, 7, 8))):
      flip = tf.reduce_any(turn == tf.constant(turns))
      found = tf.cond(flip, lambda axis=axis, f=found: tf.reverse(f, [axis]), lambda f=found: f)
    return found

  return tf.cond(turn > 1, turned, lambda: image)
