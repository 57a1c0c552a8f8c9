import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.vision.detectors import base


def test_detections_are_cut_sorted_and_empty_ones_dropped():
  boxes = [[0, 0, 0.5, 0.5], [0.2, 0.2, 0.2, 0.9], [-1, 0, 2, 1]]
  found = base.detections(boxes, ["cat", "line", "dog"], [0.3, 0.9, 0.8])
  assert found.labels == ("dog", "cat")
  assert found.boxes[0].tolist() == [0, 0, 1, 1]
  np.testing.assert_allclose(found.scores, [0.8, 0.3])


def test_boxes_of_the_canvas_become_boxes_of_the_picture():
  _, content = base.on_canvas(np.zeros((50, 100, 3), np.uint8), 64)
  assert content.tolist() == [1.0, 0.5]
  assert base.of_picture([[0.5, 0.25, 1, 0.5]], content).tolist() == [[0.5, 0.5, 1, 1]]


def test_names_of_coco_by_the_number_of_classes():
  assert base.coco_names(80)[11] == "stop sign"
  assert base.coco_names(90)[12] == "stop sign"
  assert base.coco_names(91)[13] == "stop sign"
  assert base.coco_names(365) is None


def test_a_missing_file_of_names_is_an_error(tmp_path):
  with pytest.raises(errors.UserError, match="names of classes"):
    base.read_names(str(tmp_path / "none.txt"))
