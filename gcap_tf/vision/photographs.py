"""Photographs as canvases, in `tf.data`."""

import pathlib
from collections.abc import Sequence

import tensorflow as tf

from gcap_tf.vision import canvas, picture_views, pictures


def canvases(
  image_ids: Sequence[str], paths: Sequence[pathlib.Path], size: int, views: int = 1
) -> tf.data.Dataset:
  """(canvases [views, S, S, 3], content [views, 2]) of each file, see `picture_views`.

  A file that cannot be decoded ends the iteration with a `UserError` inside a
  `tf.errors.OpError` (see `pipeline.clear_errors`).

  Args:
    image_ids: of the pictures, in order.
    paths: of their files, in the same order.
    size: S.
    views: number of views.
  """

  def load(path: bytes):
    return pictures.read(path.decode())

  def place(path, windows, shares, mirrored) -> tuple[tf.Tensor, tf.Tensor]:
    image = tf.ensure_shape(tf.numpy_function(load, [path], tf.uint8), [None, None, 3])
    placed = [
      _place(image, windows[number], shares[number], mirrored[number], size)
      for number in range(views)
    ]
    return tuple(tf.stack(parts) for parts in zip(*placed, strict=True))

  seen = [[picture_views.view(name, number) for number in range(views)] for name in image_ids]
  dataset = tf.data.Dataset.from_tensor_slices(
    (
      [str(path) for path in paths],
      [[view.window for view in row] for row in seen],
      [[view.share for view in row] for row in seen],
      [[view.mirrored for view in row] for row in seen],
    )
  )
  return dataset.map(place, num_parallel_calls=2, deterministic=True)


def _place(image, window, share, mirrored, size) -> tuple[tf.Tensor, tf.Tensor]:
  """The canvas and content of one view."""
  sides = tf.reverse(tf.shape(image)[:2], [0])  # width, height
  low = tf.minimum(tf.cast(window[:2] * tf.cast(sides, tf.float32), tf.int32), sides - 1)
  high = tf.cast(tf.round(window[2:] * tf.cast(sides, tf.float32)), tf.int32)
  high = tf.maximum(high, low + 1)
  part = image[low[1] : high[1], low[0] : high[0]]
  return canvas.place(tf.cond(mirrored, lambda: part[:, ::-1], lambda: part), size, share)
