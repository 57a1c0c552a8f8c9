"""A served model with the picture front end of captioners of photographs, and little else.

It answers in milliseconds, so that damaged pictures can be sent by the hundred thousand:

    image_bytes string [B]  ->  brightness float32 [B], image_size int32 [B, 2], error string [B]
"""

import pathlib

import tensorflow as tf

from export import photograph_module
from gcap_tf.vision import pictures

NAME = "photographs"
_MOST_PIXELS = 1 << 20


class Brightness(tf.Module):
  """The mean brightness of each picture; 0 and an error for what is no picture."""

  @tf.function(input_signature=[tf.TensorSpec([None], tf.string, photograph_module.IMAGE_BYTES)])
  def caption_image(self, image_bytes: tf.Tensor) -> dict[str, tf.Tensor]:
    brightness, sizes, problems = tf.map_fn(
      _measure, image_bytes, fn_output_signature=(tf.float32, tf.int32, tf.string)
    )
    return {"brightness": brightness, "image_size": sizes, "error": problems}


def save(folder: pathlib.Path) -> pathlib.Path:
  """Writes version 1; returns the base path."""
  model, base = Brightness(), folder / NAME
  signatures = {"serving_default": model.caption_image, "caption_image": model.caption_image}
  tf.saved_model.save(model, str(base / "1"), signatures=signatures)
  return base


def _measure(data: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
  found = pictures.try_decode(data, _MOST_PIXELS, webp=False)
  light = tf.reduce_mean(tf.cast(found.image, tf.float32))
  good = found.problem == ""
  size = tf.where(good, tf.shape(found.image)[1::-1], [0, 0])
  return tf.where(good, light, 0.0), size, found.problem
