import numpy as np

from gcap_tf.vision import colour_histogram

_HALF = colour_histogram.SIZE // 2


def _histogram(picture, box):
  found = colour_histogram.histograms(
    picture[None].astype(np.float32), np.array([[box]], np.float32)
  )
  return found.numpy()[0, 0] ** 2


def test_one_colour_fills_one_bin_of_each_histogram():
  found = _histogram(np.full((12, 12, 3), [255, 0, 51]), [0, 0, 1, 1])
  # Red level 5, green 0, blue 1 of 6: both histograms, interleaved by red-green pair.
  np.testing.assert_allclose(found.reshape(6, 6, 2, 6)[5, 0, :, 1], [1, 1], atol=1e-5)
  np.testing.assert_allclose(found.sum(), 2, atol=1e-4)


def test_a_colour_between_two_levels_is_split():
  found = _histogram(np.full((12, 12, 3), [0, 0, 25.5]), [0, 0, 1, 1]).reshape(6, 6, 2, 6)
  np.testing.assert_allclose(found[0, 0, 0, :2], [0.5, 0.5], atol=1e-5)


def test_only_the_box_counts_and_the_second_histogram_prefers_its_middle():
  picture = np.zeros((16, 16, 3))
  picture[4:8, 4:8] = 255
  assert _histogram(picture, [0.25, 0.25, 0.5, 0.5]).reshape(6, 6, 2, 6)[5, 5, 0, 5] > 0.999
  both = _histogram(picture, [0.125, 0.125, 0.625, 0.625]).reshape(6, 6, 2, 6)[5, 5, :, 5]
  np.testing.assert_allclose(both[0], 0.25, atol=1e-5)
  assert both[1] > 0.5


def test_a_small_picture_is_averages_of_four_by_four_pixels():
  canvas = np.arange(8 * 8 * 3, dtype=np.float32).reshape(1, 8, 8, 3)
  small = colour_histogram.small_picture(canvas)
  np.testing.assert_allclose(small[0, 1, 0], canvas[0, 4:, :4].mean((0, 1)))
