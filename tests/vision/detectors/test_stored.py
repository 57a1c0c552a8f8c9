import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.vision.detectors import stored

IMAGE = np.zeros((100, 200, 3), np.uint8)


def _file(tmp_path, **entries):
  rows = [
    {"image_id": 7, "bbox": [20, 10, 40, 50], "category": "dog", "score": 0.05},
    {"image_id": 7, "bbox": [0, 0, 100, 100], "category": "man", "score": 0.9},
  ]
  path = tmp_path / "found.json"
  path.write_text(json.dumps({"annotations": rows, **entries}))
  return str(path)


def test_boxes_are_fractions_of_the_picture(tmp_path):
  found = stored.StoredDetector(_file(tmp_path)).detect(IMAGE, "7")
  assert found.labels == ("man", "dog")
  np.testing.assert_allclose(found.boxes[1], [0.1, 0.1, 0.3, 0.6])


def test_boxes_of_another_size_are_scaled(tmp_path):
  sizes = [{"id": 7, "width": 400, "height": 200}]
  found = stored.StoredDetector(_file(tmp_path, images=sizes)).detect(IMAGE, "7")
  np.testing.assert_allclose(found.boxes[0], [0, 0, 0.25, 0.5])


def test_a_picture_without_detections_is_empty_and_an_unknown_one_an_error(tmp_path):
  sizes = [{"id": 8, "width": 400, "height": 200}]
  detector = stored.StoredDetector(_file(tmp_path, images=sizes))
  assert detector.detect(IMAGE, "8").labels == ()
  with pytest.raises(errors.UserError, match="picture 9"):
    detector.detect(IMAGE, "9")
