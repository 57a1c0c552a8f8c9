import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gcap_tf import box_geometry

coordinates = st.integers(0, 40).map(lambda value: value / 40)


@st.composite
def boxes_01(draw):
  x = sorted(draw(st.tuples(coordinates, coordinates)))
  y = sorted(draw(st.tuples(coordinates, coordinates)))
  return np.array([x[0], y[0], x[1], y[1]], np.float32)


def test_iou_is_shared_area_over_joint_area():
  # Two 10 x 10 boxes that share a 5 x 10 strip: 50 / (100 + 100 - 50).
  a = np.array([[0, 0, 10, 10], [20, 20, 30, 30]])
  b = np.array([[5, 0, 15, 10]])
  np.testing.assert_allclose(box_geometry.iou(a, b), [[1 / 3], [0]], rtol=1e-6)


def test_iou_with_plus_one_counts_pixels_inclusively():
  # Pixels 0..9 and 5..14 across, 10 rows: 5 columns shared of 15.
  a, b = np.array([[0, 0, 9, 9]]), np.array([[5, 0, 14, 9]])
  np.testing.assert_allclose(box_geometry.iou(a, b, plus_one=True), [[50 / 150]], rtol=1e-6)


def test_plus_one_gives_a_box_of_one_pixel_an_area():
  pixel = np.array([[3, 3, 3, 3]])
  assert box_geometry.area(pixel)[0] == 0
  assert box_geometry.area(pixel, plus_one=True)[0] == 1


def test_iou_of_two_empty_boxes_is_zero_not_nan():
  nothing = np.array([[2.0, 2, 2, 2]])
  assert box_geometry.iou(nothing, nothing)[0, 0] == 0


def test_iou_of_no_boxes_keeps_its_shape():
  assert box_geometry.iou(np.zeros((0, 4)), np.zeros((3, 4))).shape == (0, 3)


@hypothesis.given(boxes_01(), boxes_01())
def test_iou_is_symmetric_and_a_fraction(a, b):
  forward = box_geometry.iou(a[None], b[None])[0, 0]
  assert 0 <= forward <= 1 + 1e-6
  assert forward == pytest.approx(box_geometry.iou(b[None], a[None])[0, 0])


def test_enclosing_box_reaches_the_outermost_edges():
  boxes = np.array([[5, 6, 7, 8], [1, 7, 6, 9]], np.float32)
  np.testing.assert_array_equal(box_geometry.enclosing(boxes), [1, 6, 7, 9])


def test_enclosing_nothing_is_refused():
  with pytest.raises(ValueError, match="empty"):
    box_geometry.enclosing(np.zeros((0, 4)))


@pytest.mark.parametrize(
  ("rule", "expected"),
  [("union", [0, 0, 9, 9]), ("first", [0, 0, 2, 2]), ("largest", [4, 4, 9, 9])],
)
def test_merged_follows_its_rule(rule, expected):
  boxes = np.array([[0, 0, 2, 2], [4, 4, 9, 9], [3, 3, 5, 5]], np.float32)
  assert box_geometry.merged(boxes, rule).tolist() == expected


def test_merged_refuses_an_unknown_rule():
  with pytest.raises(ValueError, match="union, first or largest"):
    box_geometry.merged(np.ones((1, 4)), "mean")


def test_clip_moves_edges_into_the_picture():
  boxes = np.array([[-3, 2, 120, 90]], np.float32)
  np.testing.assert_array_equal(box_geometry.clip(boxes, 100, 50), [[0, 2, 100, 50]])


def test_normalise_divides_x_by_width_and_y_by_height():
  boxes = np.array([10, 10, 50, 50])
  np.testing.assert_allclose(
    box_geometry.normalise(boxes, 100, 50), [0.1, 0.2, 0.5, 1.0], rtol=1e-6
  )


def test_normalise_refuses_a_picture_without_size():
  with pytest.raises(ValueError, match="0 x 0"):
    box_geometry.normalise(np.zeros((1, 4)), 0, 0)


def pfan_row_by_loops(box):
  cells = []
  for x in range(16):
    for y in range(16):
      width = min(box[2], (x + 1) / 16) - max(box[0], x / 16)
      height = min(box[3], (y + 1) / 16) - max(box[1], y / 16)
      if width > 0 and height > 0:
        cells.append((-round(width * height, 12), x * 16 + y))
  cells = sorted(cells)[:15]
  total = sum(-overlap for overlap, _ in cells)
  ids = [block for _, block in cells] + [256] * (15 - len(cells))
  weights = [-overlap / total for overlap, _ in cells] + [0] * (15 - len(cells))
  return ids, weights


@hypothesis.given(boxes_01())
def test_pfan_blocks_equal_a_loop_over_the_grid(box):
  ids, weights = pfan_row_by_loops(box.astype(np.float64))
  row = box_geometry.pfan_blocks(box[None])[0]
  # Overlaps that differ by float noise only may swap; compare the weight of every block.
  np.testing.assert_allclose(row[15:], weights, atol=1e-6)
  assert row[:15].tolist() == ids


def test_pfan_block_ids_count_down_the_columns():
  # One block: the second from the left, the first from the top, is 1 * 16 + 0.
  row = box_geometry.pfan_blocks(np.array([[1 / 16, 0, 2 / 16, 1 / 16]]))[0]
  assert row[0] == 16 and row[15] == 1
  assert (row[1:15] == 256).all() and (row[16:] == 0).all()


def test_pfan_ties_go_by_ascending_id():
  row = box_geometry.pfan_blocks(np.array([[0, 0, 1, 1]]))[0]
  assert row[:15].tolist() == list(range(15))
  np.testing.assert_allclose(row[15:], 1 / 15, rtol=1e-6)


def test_pfan_row_of_an_empty_box_is_all_padding():
  row = box_geometry.pfan_blocks(np.array([[0.5, 0.5, 0.5, 0.9]]))[0]
  assert (row[:15] == 256).all() and (row[15:] == 0).all()
