import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.vision.detectors import catalog, plain_grid


def test_windows_lie_in_the_picture_and_the_first_is_the_whole_of_it():
  boxes = plain_grid.boxes()
  assert boxes.shape == (100, 4) and boxes.min() >= 0 and boxes.max() <= 1 + 1e-6
  np.testing.assert_array_equal(boxes[0], [0, 0, 1, 1])
  np.testing.assert_allclose(boxes[2], [0, 0, 0.5, 0.5])


def test_fewer_boxes_are_the_first_of_more():
  found = catalog.open_detector("grid:36").detect(np.zeros((4, 4, 3), np.uint8), "a")
  np.testing.assert_array_equal(found.boxes, plain_grid.boxes()[:36])
  assert (np.diff(found.scores) < 0).all() and found.labels == ("",) * 36


@pytest.mark.parametrize("count", ["", "0", "101", "many"])
def test_a_wrong_number_is_one_line(count):
  with pytest.raises(errors.UserError, match="from 1 to 100"):
    catalog.open_detector(f"grid:{count}")
