"""Photographs of a folder as canvases, in `tf.data`."""

from collections.abc import Sequence

import tensorflow as tf

from gcap_tf import files
from gcap_tf.vision import annotated_pictures, canvas


def canvases(
  pictures: files.PathLike, image_ids: Sequence[str], size: int, views: int = 1
) -> tf.data.Dataset:
  """(canvases [views, S, S, 3], content [2]) of each picture; the second view is mirrored.

  Args:
    pictures: folder of photographs.
    image_ids: of the pictures, in order.
    size: S.
    views: 1 or 2.
  """
  paths = [str(annotated_pictures.path(pictures, image_id)) for image_id in image_ids]

  def place(path: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    image = decode(tf.io.read_file(path))
    placed, content = canvas.place(image, size)
    if views == 1:
      return placed[None], content
    return tf.stack([placed, canvas.place(image[:, ::-1], size)[0]]), content

  return tf.data.Dataset.from_tensor_slices(paths).map(
    place, num_parallel_calls=2, deterministic=True
  )


def decode(data: tf.Tensor) -> tf.Tensor:
  """[height, width, 3] uint8 of an encoded photograph."""
  return tf.io.decode_jpeg(data, channels=3)
