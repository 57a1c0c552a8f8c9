import numpy as np

from gcap_tf.vision import box_coding


def test_points_are_the_middles_of_cells():
  points = box_coding.points(32, (8, 16))
  assert points.shape == (16 + 4, 3)
  np.testing.assert_allclose(points[1], [12 / 32, 4 / 32, 8 / 32])  # Second cell of the first row.
  np.testing.assert_allclose(points[16], [8 / 32, 8 / 32, 16 / 32])


def test_zeros_are_a_box_four_cells_wide_at_the_cell():
  points = box_coding.points(64, (8,))[[18]]  # Row 2, column 2: middle (20, 20) of 64.
  box = box_coding.decode(np.zeros((1, 1, 4), np.float32), points)
  np.testing.assert_allclose(box[0, 0] * 64, [4, 4, 36, 36])


def test_codes_move_and_stretch_the_box():
  points = box_coding.points(64, (8,))[[18]]
  code = np.array([[[1, -1, np.log(2), np.log(0.5)]]], np.float32)
  # Middle (28, 12), size 64 x 16.
  np.testing.assert_allclose(box_coding.decode(code, points)[0, 0] * 64, [-4, 4, 60, 20], rtol=1e-5)


def test_huge_codes_stay_finite():
  code = np.full((1, 1, 4), 1e4, np.float32)
  assert np.isfinite(box_coding.decode(code, box_coding.points(64, (64,)))).all()
