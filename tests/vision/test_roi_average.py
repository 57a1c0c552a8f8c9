import numpy as np

from gcap_tf.vision import roi_average


def _oracle(grid, box, bins, fine=240):
  """Averages over a very fine grid of points."""
  height, width, _ = grid.shape
  x1, y1, x2, y2 = box
  rows = []
  for j in range(bins):
    for i in range(bins):
      x = x1 + (x2 - x1) * (i + (np.arange(fine) + 0.5) / fine) / bins
      y = y1 + (y2 - y1) * (j + (np.arange(fine) + 0.5) / fine) / bins
      rows.append(grid[(y * height).astype(int)][:, (x * width).astype(int)].mean((0, 1)))
  return np.concatenate(rows)


def test_averages_are_those_of_fine_sampling():
  rng = np.random.default_rng(0)
  maps = rng.normal(size=(2, 6, 6, 3)).astype(np.float32)
  boxes = np.array(
    [[[0.1, 0.2, 0.75, 0.6], [0, 0, 1, 1]], [[0.3, 0, 0.5, 0.9], [0.4, 0.4, 0.6, 0.5]]]
  )
  for bins in (1, 2):
    found = roi_average.average(maps, boxes.astype(np.float32), bins)
    assert found.shape == (2, 2, bins * bins * 3)
    for picture in range(2):
      for region in range(2):
        expected = _oracle(maps[picture], boxes[picture, region], bins)
        np.testing.assert_allclose(found[picture, region], expected, atol=0.02)


def test_the_whole_picture_is_the_mean():
  maps = np.random.default_rng(1).normal(size=(1, 4, 8, 2)).astype(np.float32)
  whole = roi_average.average(maps, np.array([[[0, 0, 1, 1]]], np.float32))
  np.testing.assert_allclose(whole[0, 0], maps[0].mean((0, 1)), atol=1e-6)


def test_boxes_without_area_read_the_cell_they_are_in():
  maps = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
  found = roi_average.average(maps, np.array([[[0.3, 0.6, 0.3, 0.6], [1, 1, 1, 1]]], np.float32), 2)
  np.testing.assert_allclose(found[0], [[9] * 4, [15] * 4], rtol=1e-4)
