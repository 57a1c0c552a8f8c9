import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.vision import canvas, colour_histogram, region_vectors, regions
from tests.vision import picture_files, small_detector

SIZE = small_detector.SIZE


@pytest.fixture(name="maker", scope="module")
def _maker():
  return regions.RegionMaker(small_detector.make())


@pytest.fixture(name="photograph", scope="module")
def _photograph():
  placed, content = canvas.place(np.asarray(picture_files.photograph(120, 80)), SIZE)
  return placed[None], content[None]


def _average(maps: np.ndarray, box: np.ndarray) -> np.ndarray:
  """The mean of [H, W, C] inside a box of the canvas: every cell weighed by its overlap."""
  height, width, channels = maps.shape
  total, area = np.zeros(channels), 0.0
  for row in range(height):
    down = min(box[3], (row + 1) / height) - max(box[1], row / height)
    for column in range(width):
      across = min(box[2], (column + 1) / width) - max(box[0], column / width)
      if down > 0 and across > 0:
        total += down * across * maps[row, column]
        area += down * across
  return total / area


def test_features_are_what_loops_over_cells_give(maker, photograph):
  canvases, content = photograph
  found = maker.propose(canvases, content, 4)
  maps = {stride: m.numpy()[0] for stride, m in maker.detector.backbone(canvases).items()}
  boxes = canvas.to_canvas(found["boxes"], content)
  small = colour_histogram.small_picture(canvases)
  vectors = region_vectors.vectors(maker.detector.backbone(canvases), small, boxes, content)
  standard = maker.detector.head.namer.standard
  mean, variance = standard.moving_mean.numpy(), standard.moving_variance.numpy()
  channels = [maps[stride].shape[-1] for stride in (8, 16, 32)]
  for r in range(4):
    row = found["features"].numpy()[0, r]
    columns = {
      "map_8": slice(0, channels[0]),
      "map_32": slice(channels[0] + 4 * channels[1], channels[0] + 4 * channels[1] + channels[2]),
    }
    for name, stride in (("map_8", 8), ("map_32", 32)):
      own = columns[name]
      value = _average(maps[stride], boxes.numpy()[0, r])
      expected = np.clip((value - mean[own]) / np.sqrt(variance[own] + 1e-3), -8, 8)
      start, end = maker.columns[name]
      np.testing.assert_allclose(row[start:end], expected, rtol=1e-3, atol=1e-4)
    geometry = vectors.numpy()[0, r, -432 - 8 : -432]
    own = slice(-432 - 8, -432)
    start, end = maker.columns["geometry"]
    expected = (geometry - mean[own]) / np.sqrt(variance[own] + 1e-3)
    np.testing.assert_allclose(row[start:end], np.clip(expected, -8, 8), rtol=1e-4, atol=1e-5)


def test_label_and_colour_columns_are_square_roots_of_distributions(maker, photograph):
  row = maker.propose(*photograph, 4)["features"].numpy()[0, 0]
  for name in ("labels", "colours"):
    start, end = maker.columns[name]
    assert np.sum((row[start:end] / 4) ** 2) == pytest.approx(1, abs=1e-5)


def test_sizes_follow_from_the_columns(maker, photograph):
  found = maker.propose(*photograph, 6)
  assert found["features"].shape == (1, 6, maker.feature_size)
  assert found["global_feature"].shape == (1, maker.global_size)
  assert found["grid_features"].shape == (1, regions.CELLS, maker.grid_size)
  assert maker.columns["labels"][0] == maker.global_size


def test_regions_below_the_score_are_masked_but_for_the_best(maker, photograph):
  found = maker.propose(*photograph, 6, min_score=1.1)
  assert found["region_mask"].numpy().tolist() == [[True] + [False] * 5]
  assert not found["features"].numpy()[0, 1:].any()


def test_a_sure_label_of_another_detector_wins(maker, photograph):
  boxes = np.array([[[0.1, 0.1, 0.5, 0.5], [0.2, 0.2, 0.9, 0.9]]], np.float32)
  labels, scores = np.array([[2, -1]]), np.array([[0.9, 0.8]], np.float32)
  given = regions.Given(boxes, scores, tf.constant(labels, tf.int32), np.ones((1, 2), bool))
  found = maker.describe(*photograph, given)
  assert found["region_labels"].numpy()[0, 0] == 2
  probabilities = found["label_probs"].numpy()[0]
  assert probabilities[0, 2] >= 0.9
  np.testing.assert_allclose(probabilities.sum(-1), 1, rtol=1e-5)


def test_the_whole_picture_is_a_region_like_any_other(maker, photograph):
  whole = np.array([[[0, 0, 1, 1]]], np.float32)
  one = np.ones((1, 1), np.float32)
  given = regions.Given(whole, one, np.full((1, 1), -1), one > 0)
  found = maker.describe(*photograph, given)
  visual = found["features"].numpy()[0, 0, : maker.global_size]
  np.testing.assert_allclose(found["global_feature"].numpy()[0], visual, rtol=1e-5, atol=1e-5)


def test_a_batch_gives_what_single_pictures_give(maker, photograph):
  canvases, content = photograph
  other, other_content = canvas.place(np.asarray(picture_files.photograph(50, 90)), SIZE)
  both = maker.propose(
    tf.concat([canvases, other[None]], 0), tf.concat([content, other_content[None]], 0), 4
  )
  alone = maker.propose(canvases, content, 4)
  for name, value in alone.items():
    np.testing.assert_allclose(both[name][:1], value, rtol=1e-3, atol=1e-3, err_msg=name)
