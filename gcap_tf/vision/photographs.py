"""Photographs as canvases, in `tf.data`."""

import pathlib
from collections.abc import Sequence

import tensorflow as tf

from gcap_tf.vision import canvas, pictures


def canvases(paths: Sequence[pathlib.Path], size: int, views: int = 1) -> tf.data.Dataset:
  """(canvases [views, S, S, 3], content [2]) of each file; the second view is mirrored.

  A file that cannot be decoded ends the iteration with a `UserError` inside a
  `tf.errors.OpError` (see `pipeline.clear_errors`).

  Args:
    paths: of the picture files, in order.
    size: S.
    views: 1 or 2.
  """

  def load(path: bytes):
    return pictures.read(path.decode())

  def place(path: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    image = tf.ensure_shape(tf.numpy_function(load, [path], tf.uint8), [None, None, 3])
    placed, content = canvas.place(image, size)
    if views == 1:
      return placed[None], content
    return tf.stack([placed, canvas.place(image[:, ::-1], size)[0]]), content

  dataset = tf.data.Dataset.from_tensor_slices([str(path) for path in paths])
  return dataset.map(place, num_parallel_calls=2, deterministic=True)
