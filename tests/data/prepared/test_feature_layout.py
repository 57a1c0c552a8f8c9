import types

from gcap_tf.data.prepared import feature_layout, region_noise
from gcap_tf.text import vocabulary as vocabularies

WORDS = ("", "a", "man", "dog", "UNK")
COLUMNS = {"map_8": [0, 3], "labels": [3, 5], "score": [5, 6]}


def data(detector=None, feature_size=6, global_size=0):
  return types.SimpleNamespace(
    info={"detector": detector}, feature_size=feature_size, global_size=global_size
  )


PICTURES = data({"name": "pictures", "columns": COLUMNS, "labels": ["dog", "person"]})


def test_the_parts_are_those_that_preparation_recorded():
  layout = feature_layout.of(PICTURES)
  assert layout.label_columns == (3, 5) and layout.labels == ("dog", "person")
  assert feature_layout.of(data({"name": "perfect"})) is None
  assert feature_layout.of(data()) is None


def test_names_in_features_have_columns():
  names = feature_layout.names(PICTURES, vocabularies.Vocabulary("captioner", WORDS))
  assert names.columns == (3, 5) and names.in_features
  assert names.words.tolist() == [3, 0] and names.foreign.tolist() == [0, 1]


def test_names_of_a_captioner_of_labels_are_ids():
  words = vocabularies.Vocabulary("captioner", WORDS, ("man", "person", "shirt"))
  names = feature_layout.names(data({"name": "perfect"}, feature_size=0), words)
  assert not names.in_features and names.words.tolist() == [2, 0, 0]
  assert names.foreign.tolist() == [1, 1, -1]


def test_features_of_unknown_parts_have_no_names():
  words = vocabularies.Vocabulary("captioner", WORDS)
  assert feature_layout.names(data({"name": "store"}), words) is None


def test_a_changer_is_made_only_for_noise():
  words = vocabularies.Vocabulary("captioner", WORDS)
  assert feature_layout.changer(PICTURES, words, region_noise.RegionNoise()) is None
  found = feature_layout.changer(PICTURES, words, region_noise.RegionNoise(drop=0.5))
  assert found.mean_feature and found.names.in_features
