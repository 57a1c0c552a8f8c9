"""Tests of gcap_tf/training/captioner_model.py."""

import dataclasses

import pytest

from gcap_tf import errors
from gcap_tf.training import captioner_model
from tests.training import small_runs


def test_regions_that_lack_what_is_asked_for_are_refused(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1, labels=False)
  config = small_runs.captioner_config(region_labels="yes")
  with pytest.raises(errors.UserError, match="regions without labels"):
    captioner_model.build_vocabulary(data, config)


def test_classes_of_regions_follow_from_the_data(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1)
  config = small_runs.captioner_config("gvd", region_classes="objects")
  vocabulary = captioner_model.build_vocabulary(data, config)
  assert vocabulary.labels == data.object_classes
  model = captioner_model.model_config(data, vocabulary, config)
  assert (model.num_classes, model.num_labels) == (6, 0)
  both = dataclasses.replace(config, region_labels="yes")
  vocabulary = captioner_model.build_vocabulary(data, both)
  assert set(vocabulary.labels) == set(data.object_classes)
  model = captioner_model.model_config(data, vocabulary, both)
  assert (model.num_classes, model.num_labels) == (6, 6)


def test_labels_that_are_words_can_be_named(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1, feature_size=0)
  config = small_runs.captioner_config()
  config = dataclasses.replace(config, options={**config.options, "naming": True})
  vocabulary = captioner_model.build_vocabulary(data, config)
  words = captioner_model.model_config(data, vocabulary, config).label_words
  assert len(words) == len(vocabulary.labels) + 1 and any(words)
  for label, word in zip(vocabulary.labels, words[1:], strict=True):
    assert vocabulary.words[word] == label if word else label not in vocabulary.words
