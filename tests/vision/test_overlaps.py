import numpy as np

from gcap_tf import box_geometry
from gcap_tf.vision import overlaps


def _boxes(count, seed):
  low, side = np.random.default_rng(seed).uniform(0, 0.5, (2, count, 2))
  return np.concatenate([low, low + side], -1).astype(np.float32)


def test_overlap_of_all_pairs_is_that_of_the_numpy_program():
  a, b = _boxes(7, 0), _boxes(5, 1)
  np.testing.assert_allclose(overlaps.iou(a, b), box_geometry.iou(a, b), atol=1e-6)
  np.testing.assert_allclose(overlaps.iou(a[None], b[None])[0], overlaps.iou(a, b))


def test_matched_boxes_have_the_diagonal_of_all_pairs():
  a, b = _boxes(6, 2), _boxes(6, 3)
  np.testing.assert_allclose(overlaps.matched(a, b)[0], np.diag(box_geometry.iou(a, b)), atol=1e-6)


def test_generalised_overlap_by_hand():
  a, b = np.array([[0, 0, 1, 1.0]], np.float32), np.array([[2, 0, 3, 1.0]], np.float32)
  # Union 2, smallest box around both 3: 0 - 1/3.
  np.testing.assert_allclose(overlaps.matched(a, b)[1], [-1 / 3], rtol=1e-6)
  np.testing.assert_allclose(overlaps.matched(a, a)[1], [1.0], rtol=1e-6)


def test_inverted_boxes_have_no_area():
  np.testing.assert_array_equal(overlaps.area(np.array([[0.5, 0, 0.2, 1]], np.float32)), [0])
