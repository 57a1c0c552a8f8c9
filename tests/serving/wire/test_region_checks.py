import re

import numpy as np
import pytest

from serving.wire import region_checks

GOOD = np.array([[[0, 0, 0.5, 1], [0.2, 0.2, 0.2, 0.4], [9, 9, 9, 9]]], np.float32)


def test_boxes_in_the_picture_pass_and_padding_is_not_read():
  assert region_checks.box_problem(GOOD, [2]) is None
  assert region_checks.box_problem(np.zeros((0, 0, 4)), []) is None


@pytest.mark.parametrize(
  ("box", "message"),
  [
    ([10, 20, 300, 200], "box 1 of picture 0 is in pixels .10, 20, 300, 200.: divide x by"),
    ([0, 0, 1.2, 1], "outside the picture .0, 0, 1.2, 1.: boxes go from 0 to 1; clip them"),
    ([-0.1, 0, 0.2, 1], "outside the picture"),
    ([0.5, 0.1, 0.2, 0.3], "inverted .0.5, 0.1, 0.2, 0.3.: boxes are x1, y1, x2, y2"),
    ([0.1, 0.5, 0.2, 0.3], "inverted"),
    ([np.nan, 0, 1, 1], "finite numbers"),
  ],
)
def test_wrong_box_is_named_with_its_fix(box, message):
  boxes = GOOD.copy()
  boxes[0, 1] = box
  found = region_checks.box_problem(boxes, [2])
  assert found is not None
  assert re.search(message, found), found


def test_boxes_are_one_list_per_picture():
  assert region_checks.box_shape_problem([GOOD[0], [], np.zeros((0, 4))]) is None
  assert "send [boxes]" in region_checks.box_shape_problem([[0, 0, 1, 1], [0, 0, 1, 1]])
  assert "shape [2, 3]" in region_checks.box_shape_problem([np.zeros((2, 3))])


def test_labels_are_one_list_of_strings_per_picture():
  assert region_checks.label_problem([["dog", "man"], []], [2, 0]) is None
  assert "send [labels], not labels" in region_checks.label_problem(["dog", "man"], [2])
  assert "got the string 'dog'" in region_checks.label_problem("dog", [1])
  assert "a int among its labels" in region_checks.label_problem([[3]], [1])
  assert "2 boxes and 1 labels" in region_checks.label_problem([["dog"]], [2])
  assert "boxes of 2 pictures and labels of 1" in region_checks.label_problem([["a"]], [1, 1])
