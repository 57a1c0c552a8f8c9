import numpy as np

from gcap_tf.data import frame_regions, records


def regions(count, label):
  return records.Regions(
    boxes_px=np.full([count, 4], count, np.float32),
    features=np.full([count, 3], count, np.float32),
    labels=(label,) * count,
    scores=np.ones(count, np.float32),
  )


def test_regions_of_frames_know_their_frame():
  found = frame_regions.joined([regions(2, "man"), regions(0, "dog"), regions(1, "ball")])
  assert found.frame.tolist() == [0, 0, 2] and found.frame.dtype == np.int32
  assert found.labels == ("man", "man", "ball")
  np.testing.assert_array_equal(found.features[:, 0], [2, 2, 1])
  assert found.colours == () and found.grid_features is None


def test_a_frame_has_its_vector_and_its_change():
  whole = np.array([[1.0, 2.0], [4.0, 2.0], [4.0, 0.0]])
  found = frame_regions.with_frame_features(regions(1, "man"), whole)
  np.testing.assert_array_equal(found.grid_features, [[1, 2, 0, 0], [4, 2, 3, 0], [4, 0, 0, -2]])
  np.testing.assert_allclose(found.global_feature, [3, 4 / 3, 1, -2 / 3])
  assert found.span == (0, 3)
