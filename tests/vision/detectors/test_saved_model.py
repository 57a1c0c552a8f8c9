import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.vision.detectors import saved_model


class _Bright(tf.Module):
  """Boxes the bright pixels, as class 18, and adds a box of class 1 that does not count."""

  @tf.function(input_signature=[tf.TensorSpec([1, None, None, 3], tf.uint8, "input_tensor")])
  def __call__(self, picture):
    places = tf.cast(tf.where(tf.reduce_any(picture[0] > 127, -1)), tf.float32)
    sides = tf.cast(tf.shape(picture)[1:3], tf.float32)
    low, high = tf.reduce_min(places, 0) / sides, (tf.reduce_max(places, 0) + 1) / sides
    box = tf.concat([low, high], 0)
    return {
      "detection_boxes": tf.stack([box, box])[None],
      "detection_classes": tf.constant([[18.0, 1.0]]),
      "detection_scores": tf.constant([[0.75, 0.5]]),
      "num_detections": tf.constant([1.0]),
    }


def test_the_signature_of_the_object_detection_api_is_read(tmp_path):
  model = _Bright()
  tf.saved_model.save(model, str(tmp_path), signatures=model.__call__)
  image = np.zeros((10, 20, 3), np.uint8)
  image[5:10, 2:8] = 255
  found = saved_model.SavedModelDetector(str(tmp_path)).detect(image, "any")
  assert found.labels == ("dog",)
  np.testing.assert_allclose(found.boxes, [[0.1, 0.5, 0.4, 1.0]])
  np.testing.assert_allclose(found.scores, [0.75])


def test_another_signature_is_an_error(tmp_path):
  module = tf.Module()
  call = tf.function(lambda x: {"y": x}, input_signature=[tf.TensorSpec([], tf.float32)])
  module.call = call
  tf.saved_model.save(module, str(tmp_path), signatures=call)
  with pytest.raises(errors.UserError, match="lacks detection_boxes"):
    saved_model.SavedModelDetector(str(tmp_path))
