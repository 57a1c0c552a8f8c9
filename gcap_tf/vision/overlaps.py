"""Overlap of boxes, in TensorFlow: IoU of all pairs, IoU and generalised IoU of matched ones.

    IoU(a, b)  = |a and b| / |a or b|
    GIoU(a, b) = IoU - (|c| - |a or b|) / |c|       c: the smallest box around both

Generalised IoU: Rezatofighi et al., CVPR 2019, arXiv:1902.09630.
"""

import tensorflow as tf

_TINY = 1e-9


def area(boxes: tf.Tensor) -> tf.Tensor:
  """[...] of boxes [..., 4]; 0 for inverted ones."""
  return tf.reduce_prod(tf.maximum(boxes[..., 2:] - boxes[..., :2], 0.0), -1)


def iou(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
  """[..., A, B] of every pair of boxes [..., A, 4] and [..., B, 4]."""
  low, high = tf.split(a, 2, -1), tf.split(b, 2, -1)
  sides = []
  for axis in (0, 1):
    start = tf.maximum(low[0][..., axis][..., :, None], high[0][..., axis][..., None, :])
    end = tf.minimum(low[1][..., axis][..., :, None], high[1][..., axis][..., None, :])
    sides.append(tf.maximum(end - start, 0.0))
  shared = sides[0] * sides[1]
  return shared / (area(a)[..., :, None] + area(b)[..., None, :] - shared + _TINY)


def matched(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """IoU and generalised IoU [...] of boxes [..., 4] with their partners [..., 4]."""
  shared = area(
    tf.concat([tf.maximum(a[..., :2], b[..., :2]), tf.minimum(a[..., 2:], b[..., 2:])], -1)
  )
  union = area(a) + area(b) - shared + _TINY
  around = area(
    tf.concat([tf.minimum(a[..., :2], b[..., :2]), tf.maximum(a[..., 2:], b[..., 2:])], -1)
  )
  overlap = shared / union
  return overlap, overlap - (around - union) / (around + _TINY)
