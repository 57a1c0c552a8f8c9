import os
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.vision import pictures
from gcap_tf.vision.detectors import tflite

DATA = pathlib.Path(os.environ.get("GCAP_DATA", "."))
MODEL = os.environ.get("GCAP_TFLITE", str(DATA / "efficientdet-lite2.tflite"))


def _converted(tmp_path) -> str:
  """A model with the outputs of a detector: one box, class 17 (a dog), score 0.5."""

  @tf.function(input_signature=[tf.TensorSpec([1, 32, 32, 3], tf.float32)])
  def fixed(picture):
    zero = tf.reduce_sum(picture) * 0.0
    return (
      tf.constant([[[0.0, 0.25, 0.25, 1.0]]]) + zero,
      tf.constant([[17.0]]) + zero,
      tf.constant([[0.5]]) + zero,
      tf.constant([1.0]) + zero,
    )

  converter = tf.lite.TFLiteConverter.from_concrete_functions([fixed.get_concrete_function()])
  path = tmp_path / "fixed.tflite"
  path.write_bytes(converter.convert())
  return str(path)


def test_boxes_of_the_square_become_boxes_of_the_picture(tmp_path):
  found = tflite.TFLiteDetector(_converted(tmp_path)).detect(np.zeros((20, 40, 3), np.uint8), "a")
  np.testing.assert_allclose(found.boxes, [[0.25, 0.0, 1.0, 0.5]])  # y of a half-high picture.
  assert found.labels == ("dog",)


def test_a_file_of_something_else_is_an_error(tmp_path):
  path = tmp_path / "text.tflite"
  path.write_text("hello")
  with pytest.raises(errors.UserError, match=r"text\.tflite"):
    tflite.TFLiteDetector(str(path))


@pytest.mark.skipif(not pathlib.Path(MODEL).is_file(), reason="GCAP_TFLITE names no model")
@pytest.mark.skipif(not (DATA / "tiny_coco").is_dir(), reason="GCAP_DATA has no photographs")
def test_efficientdet_finds_things_in_photographs():
  detector = tflite.TFLiteDetector(MODEL)
  photographs = list(pictures.find(DATA / "tiny_coco").items())[:8]
  found = [detector.detect(pictures.read(path), image_id) for image_id, path in photographs]
  pairs = [pair for one in found for pair in zip(one.labels, one.scores, strict=True)]
  sure = [label for label, score in pairs if score > 0.5]
  assert len(sure) >= 4 and "" not in sure
