import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import box_geometry
from gcap_tf.data.stores import extracted_store, feature_folders
from gcap_tf.runs import detector_runs
from gcap_tf.vision import region_graph
from gcap_tf.vision.extraction import region_extractor
from tests.vision import picture_files, small_detector

REGIONS = 5


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
  """A picture of each common kind, the regions that a store has of it, and the graph's."""
  folder = tmp_path_factory.mktemp("pictures")
  detector = small_detector.write_run(folder / "eyes")
  samples = picture_files.samples()
  names = ("jpeg", "grey_jpeg", "turned", "png", "alpha", "gif")
  config = region_extractor.ExtractionConfig(detector=detector, regions=REGIONS)
  extractor = region_extractor.RegionExtractor(config, detector_runs.load)
  extracted_store.write_info(folder / "store", extractor.info())
  for name in names:
    (folder / name).write_bytes(samples[name])
    found, size = extractor.extract(name, folder / name)
    extracted_store.write_picture(folder / "store", name, found, size)
  graph = region_graph.RegionGraph(detector_runs.load(detector).detector, REGIONS, webp=False)
  whole = tf.function(graph, input_signature=[tf.TensorSpec([None], tf.string)])
  data = [samples[name] for name in names] + [b"hello", samples["webp"]]
  return names, feature_folders.FolderStore(folder / "store"), whole(tf.constant(data))


def test_the_graph_gives_what_a_store_has_in_a_batch_of_different_pictures(pictures):
  names, store, found = pictures
  for row, name in enumerate(names):
    stored, (width, height) = store.get(name), store.size(name)
    real = found["region_mask"][row].numpy()
    assert found["image_size"][row].numpy().tolist() == [width, height]
    assert stored.count == real.sum()
    expected = box_geometry.normalise(stored.boxes_px, width, height)
    np.testing.assert_allclose(found["boxes"][row].numpy()[real], expected, atol=1e-5)
    # A store keeps float16: half a unit of its last place, and the noise of float32.
    np.testing.assert_allclose(
      found["features"][row].numpy()[real], stored.features, rtol=6e-4, atol=1e-4
    )
    np.testing.assert_allclose(
      found["grid_features"][row], stored.grid_features, rtol=6e-4, atol=1e-4
    )
    np.testing.assert_allclose(found["global_feature"][row], stored.global_feature, atol=1e-4)
    np.testing.assert_allclose(found["region_scores"][row].numpy()[real], stored.scores, atol=1e-5)
    labels = [small_detector.LABELS[i] for i in found["region_labels"][row].numpy()[real]]
    assert tuple(labels) == stored.labels


def test_a_damaged_file_has_a_problem_and_no_regions(pictures):
  found = pictures[2]
  assert not found["region_mask"][-2].numpy().any() and not found["features"][-2].numpy().any()
  assert b"not a picture" in found["problem"][-2].numpy()
  assert found["image_size"][-2].numpy().tolist() == [0, 0]
  assert found["problem"].numpy()[:-2].tolist() == [b""] * (len(found["problem"]) - 2)


def test_webp_is_refused_if_the_graph_must_load_anywhere(pictures):
  assert b"send JPEG" in pictures[2]["problem"][-1].numpy()


def test_boxes_have_a_pixel_at_least():
  boxes = tf.constant([[[0.5, 0.5, 0.5, 0.5], [1.0, 1.0, 1.0, 1.0], [0.0, 0.2, 0.5, 0.6]]])
  found = region_graph.at_least_a_pixel(boxes, tf.constant([[10, 5]]))
  expected = [[0.5, 0.5, 0.6, 0.7], [0.9, 0.8, 1.0, 1.0], [0.0, 0.2, 0.5, 0.6]]
  np.testing.assert_allclose(found[0], expected, atol=1e-6)
