import numpy as np
import pytest

from gcap_tf.metrics import overlap


def test_pixel_iou_counts_the_last_pixel():
  # 10 x 10 pixels and its left half of 5 x 10 pixels.
  assert overlap.pixel_iou([0, 0, 9, 9], [0, 0, 4, 9]) == np.float32(0.5)
  # 2 x 2 pixels sharing one pixel: 1 / 7.
  assert overlap.pixel_iou([0, 0, 1, 1], [1, 1, 2, 2]) == pytest.approx(1 / 7)


def test_boxes_that_do_not_meet_score_zero():
  assert overlap.pixel_iou([0, 0, 4, 4], [20, 0, 24, 4]) == 0


def test_one_pixel_boxes_score_zero_as_reference_and_minus_one_as_prediction():
  assert overlap.pixel_iou([0, 0, 5, 5], [3, 3, 3, 3]) == 0
  assert overlap.pixel_iou([3, 3, 3, 3], [0, 0, 5, 5]) == -1
  assert overlap.pixel_iou([3, 3, 3, 3], [3, 3, 3, 3]) == -1
  assert overlap.pixel_iou([3, 3, 3, 4], [3, 3, 3, 4]) == 1


def test_boxes_broadcast():
  boxes = np.array([[0, 0, 9, 9], [0, 0, 4, 9], [50, 50, 60, 60]], float)
  table = overlap.pixel_iou(boxes[:, None], boxes[None])
  np.testing.assert_allclose(table, [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])


def test_inside_allows_one_pixel():
  assert overlap.inside([10, 10, 20, 20], [11, 11, 19, 19])
  assert not overlap.inside([10, 10, 20, 20], [12, 10, 20, 20])
  assert not overlap.inside([10, 10, 20, 20], [11, 11, 19, 19], tolerance=0)
