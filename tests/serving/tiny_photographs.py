"""A tiny captioner of photographs with the served signatures: four fixed regions, by brightness.

It says "a BRIGHTEST near the DARKEST with a hat" of the quarters of a picture, is sure of the
first, less of the second and not of the hat, gives no caption of a black picture, and has a
problem with anything that is no picture.
"""

import pathlib

import numpy as np
import tensorflow as tf

LABELS = ("cup", "table", "spoon", "window")
BOXES = np.array(
  [[0.0, 0.0, 0.5, 0.5], [0.5, 0.0, 1.0, 0.5], [0.0, 0.5, 0.5, 1.0], [0.5, 0.5, 1.0, 1.0]],
  np.float32,
)
WORDS = ("a", "", "near", "the", "", "with", "a", "hat")
SCORES = (0.0, 0.9, 0.0, 0.0, 0.6, 0.0, 0.0, 0.2)


class Photographer(tf.Module):
  """See the module; `caption_image_beam` names the darkest first."""

  SPEC = (tf.TensorSpec([None], tf.string, "image_bytes"),)

  @tf.function(input_signature=SPEC)
  def greedy(self, image_bytes):
    return self._answer(image_bytes, False)

  @tf.function(input_signature=SPEC)
  def beam(self, image_bytes):
    return self._answer(image_bytes, True)

  def _answer(self, image_bytes, darkest_first):
    quarters, sizes, ok = tf.map_fn(
      _quarters, image_bytes, fn_output_signature=(tf.float32, tf.int32, tf.bool)
    )
    rows = tf.shape(quarters)[0]
    answered = ok & (tf.reduce_max(quarters, 1) > 0.01)
    bright = tf.argmax(quarters, 1, output_type=tf.int32)
    dark = tf.argmin(quarters, 1, output_type=tf.int32)
    first, second = (dark, bright) if darkest_first else (bright, dark)
    none = tf.fill([rows], -1)
    index = tf.stack([first, first, first, second, second, none, second, second], 1)  # [B, T]
    index = tf.where(index < 0, first[:, tf.newaxis], index)
    is_thing = tf.constant([word in ("", "hat") for word in WORDS])
    named = tf.gather(tf.constant(LABELS), index)
    words = tf.where(tf.constant([word == "" for word in WORDS]), named, tf.constant(WORDS))
    words = tf.where(answered[:, tf.newaxis], words, "")
    length = tf.where(answered, len(WORDS), 0)
    index = tf.where(answered[:, tf.newaxis], index, -1)
    boxes = tf.repeat(tf.constant(BOXES)[tf.newaxis], rows, 0)
    count = tf.where(ok, len(LABELS), 0)
    real = answered[:, tf.newaxis]
    return {
      "caption": tf.where(answered, tf.strings.reduce_join(words, 1, separator=" "), ""),
      "words": words,
      "box_index": index,
      "grounded": is_thing[tf.newaxis] & real,
      "box": tf.gather(tf.constant(BOXES), tf.maximum(index, 0)),
      "attention": 0.7 * tf.one_hot(index, 4) + tf.where(real, 0.075, 0.0)[..., tf.newaxis],
      "log_prob": tf.fill([rows], -2.0),
      "length": length,
      "word_score": tf.where(real, tf.constant(SCORES)[tf.newaxis], 0.0),
      "score": tf.where(answered, 0.57, 0.0),
      "answered": answered,
      "region_boxes": boxes,
      "region_labels": tf.repeat(tf.constant(LABELS)[tf.newaxis], rows, 0),
      "region_scores": tf.repeat(tf.constant([[0.8, 0.7, 0.6, 0.5]]), rows, 0),
      "num_regions": count,
      "image_size": sizes,
      "error": tf.where(ok, "", "not a JPEG or PNG picture"),
    }


def _quarters(data):
  """Mean brightness of the four quarters [4], width and height [2], whether it is a picture."""

  def decoded():
    image = tf.io.decode_image(data, channels=3, expand_animations=False)
    image = tf.ensure_shape(image, [None, None, 3])
    size = tf.shape(image)[1::-1]
    small = tf.image.resize(tf.cast(image, tf.float32) / 255.0, [2, 2], method="area")
    return tf.reshape(tf.reduce_mean(small, -1), [4]), size

  def nothing():
    return tf.zeros([4]), tf.zeros([2], tf.int32)

  is_jpeg = tf.strings.substr(data, 0, 3) == b"\xff\xd8\xff"
  ok = is_jpeg | (tf.strings.substr(data, 0, 4) == b"\x89PNG")
  quarters, size = tf.cond(ok, decoded, nothing)
  return quarters, size, ok


def save(base: pathlib.Path) -> None:
  """Writes `base/1`."""
  model = Photographer()
  signatures = {
    "serving_default": model.greedy,
    "caption_image": model.greedy,
    "caption_image_beam": model.beam,
  }
  tf.saved_model.save(model, str(base / "1"), signatures=signatures)
