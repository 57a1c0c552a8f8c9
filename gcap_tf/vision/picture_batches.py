"""Picture files to canvases, many at once: the first part of any graph that reads photographs."""

from typing import NamedTuple

import tensorflow as tf

from gcap_tf.vision import canvas, pictures


class Photographs(NamedTuple):
  """A batch of files on their canvases.

  Attributes:
    canvases: [B, S, S, 3] float32.
    content: [B, 2], see `canvas.place`.
    image_size: [B, 2] int32, width and height of the upright picture; 1 x 1 if it is damaged.
    ok: [B] bool.
    problem: [B] string, "" if all is well.
  """

  canvases: tf.Tensor
  content: tf.Tensor
  image_size: tf.Tensor
  ok: tf.Tensor
  problem: tf.Tensor


def load(
  data: tf.Tensor,
  size: int = canvas.SIZE,
  max_pixels: int = pictures.MAX_PIXELS,
  webp: bool = True,
) -> Photographs:
  """`Photographs` of files [B]; a damaged one has a `problem` and leaves the others alone.

  Args:
    data: the files.
    size: S, side of a canvas.
    max_pixels: a larger picture has a `problem`.
    webp: see `pictures.try_decode`.
  """

  def one(file: tf.Tensor) -> Photographs:
    found = pictures.try_decode(file, max_pixels, webp)
    placed, content = canvas.place(found.image, size)
    sides = tf.reverse(tf.shape(found.image)[:2], [0])
    return Photographs(placed, content, sides, found.ok, found.problem)

  types = Photographs(
    tf.TensorSpec([size, size, 3], tf.float32),
    tf.TensorSpec([2], tf.float32),
    tf.TensorSpec([2], tf.int32),
    tf.TensorSpec([], tf.bool),
    tf.TensorSpec([], tf.string),
  )
  return tf.map_fn(one, data, fn_output_signature=types)
