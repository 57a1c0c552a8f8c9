import dataclasses

import numpy as np
import tensorflow as tf

from export import region_inputs
from gcap_tf.data.stores import label_mapping
from gcap_tf.text import vocabulary as vocabularies

VOCABULARY = vocabularies.Vocabulary("captioner", ("", "a", "UNK"), ("dog", "cat"))


@dataclasses.dataclass(frozen=True)
class Config:
  feature_size: int = 3
  global_size: int = 0
  global_is_mean: bool = False
  num_labels: int = 0


def reader(config):
  return region_inputs.RegionReader(region_inputs.RegionInputs.of(config), VOCABULARY)


def request(rows=2, regions=2, **more):
  return {
    "features": tf.ones([rows, regions, 3]) * 2,
    "boxes": tf.ones([rows, regions, 4]),
    "num_regions": tf.fill([rows], min(1, regions)),
    **more,
  }


def test_inputs_follow_the_models_configuration():
  def names(**options):
    return set(region_inputs.RegionInputs.of(Config(**options)).specs())

  assert names() == {"features", "boxes", "num_regions"}
  assert names(feature_size=0, num_labels=2) == {"boxes", "num_regions", "labels"}
  assert names(global_size=3, global_is_mean=True) == {"features", "boxes", "num_regions"}
  assert "global_feature" in names(global_size=7) & names(global_size=3)


def test_padding_is_masked_and_zero():
  batch = reader(Config()).batch(request())
  np.testing.assert_array_equal(batch["region_mask"], [[True, False]] * 2)
  np.testing.assert_array_equal(batch["features"][:, 1], 0)
  np.testing.assert_array_equal(batch["boxes"][:, 1], 0)
  np.testing.assert_array_equal(batch["global_feature"], 2.0)


def test_empty_requests_become_one_masked_region():
  for rows, regions in ((0, 2), (2, 0), (0, 0)):
    batch = reader(Config()).batch(request(rows, regions))
    assert batch["features"].shape == (max(rows, 1), max(regions, 1), 3)
    if not (rows and regions):
      assert not batch["region_mask"].numpy().any()
    assert np.isfinite(batch["global_feature"].numpy()).all()


def test_labels_become_ids_and_unknown_ones_zero():
  config = Config(feature_size=0, num_labels=2)
  labels = tf.constant([["cat", "x"], ["zebra", "dog"]])
  given = request(labels=labels)
  given["num_regions"] = tf.constant([2, 2])
  batch = reader(config).batch(given)
  np.testing.assert_array_equal(batch["region_labels"], [[2, 0], [0, 1]])


def test_names_are_mapped_in_the_graph_as_they_are_in_python():
  names = ["Dogs", "guide dog", "PUPPY", "hot dog", "kittens", "wild_cat", "x-cat", "sofa", "", "_"]
  mapping = label_mapping.LabelMapping(VOCABULARY.labels)
  given = request(1, len(names), labels=tf.constant([names]))
  given["num_regions"] = tf.constant([len(names)])
  found = reader(Config(feature_size=0, num_labels=2)).batch(given)["region_labels"]
  np.testing.assert_array_equal(found, [mapping.ids(names, VOCABULARY.label_ids)])
  np.testing.assert_array_equal(found, [[1, 1, 1, 1, 2, 2, 2, 0, 0, 0]])


def test_own_global_feature_is_passed_on():
  given = request(global_feature=tf.constant([[1.0, 2.0]] * 2))
  batch = reader(Config(global_size=2)).batch(given)
  np.testing.assert_array_equal(batch["global_feature"], [[1, 2]] * 2)


def test_labels_that_are_not_known_are_returned():
  config = Config(feature_size=0, num_labels=2)
  given = request(labels=tf.constant([["cat", "x"], ["zebra", " "]]))
  given["num_regions"] = tf.constant([1, 2])
  found = reader(config).unknown_labels(given).numpy()
  np.testing.assert_array_equal(found, [[b"", b""], [b"zebra", b""]])
