import numpy as np

from gcap_tf.vision import colour_histogram, region_vectors

_CHANNELS = {8: 2, 16: 3, 32: 4}


def _inputs(seed=0):
  rng = np.random.default_rng(seed)
  maps = {
    s: rng.normal(size=(1, 64 // s, 64 // s, c)).astype(np.float32) for s, c in _CHANNELS.items()
  }
  picture = rng.uniform(0, 255, (1, 16, 16, 3)).astype(np.float32)
  return maps, picture


def test_a_vector_has_the_announced_size():
  boxes = np.array([[[0.1, 0.1, 0.4, 0.5], [0, 0, 0, 0]]], np.float32)
  found = region_vectors.vectors(*_inputs(), boxes, np.ones((1, 2), np.float32))
  assert found.shape == (1, 2, region_vectors.size(_CHANNELS))
  assert region_vectors.size(_CHANNELS) == 2 + 5 * 3 + 3 * 4 + 8 + colour_histogram.SIZE
  assert np.isfinite(found).all()


def test_a_region_does_not_depend_on_the_others():
  maps, picture = _inputs()
  boxes = np.array([[[0.1, 0.1, 0.4, 0.5], [0.3, 0.2, 0.9, 0.8]]], np.float32)
  content = np.ones((1, 2), np.float32)
  both = region_vectors.vectors(maps, picture, boxes, content)
  alone = region_vectors.vectors(maps, picture, boxes[:, 1:], content)
  np.testing.assert_allclose(both[:, 1:], alone, atol=1e-6)


def test_geometry_is_that_of_the_photograph():
  boxes = np.array([[[0.0, 0.0, 0.5, 0.25]]], np.float32)
  found = region_vectors.vectors(*_inputs(), boxes, np.array([[1.0, 0.5]], np.float32))
  start = 2 + 5 * 3 + 3 * 4
  # Centre, sides, side of the square of equal area, log aspect, the photograph on the canvas.
  expected = [0.25, 0.25, 0.5, 0.5, np.sqrt(0.125), np.log(2), 1.0, 0.5]
  np.testing.assert_allclose(found[0, 0, start : start + 8], expected, rtol=1e-5)
