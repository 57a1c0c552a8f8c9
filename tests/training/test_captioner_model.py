"""Tests of gcap_tf/training/captioner_model.py."""

import dataclasses

import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.data.prepared import pipeline
from gcap_tf.runs import run_folders
from gcap_tf.training import captioner_model
from gcap_tf.training.methods import captioning
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


def test_regions_without_a_distribution_of_labels_cannot_name_all_of_them(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1)
  config = small_runs.captioner_config()
  config = dataclasses.replace(config, options={"naming": True, "soft_names": True})
  vocabulary = captioner_model.build_vocabulary(data, config)
  with pytest.raises(errors.UserError, match=r"options.soft_names: .* no distribution of labels"):
    captioner_model.model_config(data, vocabulary, config)


def test_soft_names_are_the_words_of_the_columns_of_labels(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1)
  data.info["detector"] = {"columns": {"labels": [1, 3]}, "labels": ["no such word", "dog"]}
  config = small_runs.captioner_config()
  vocabulary = captioner_model.build_vocabulary(data, config)
  known = [word for word, number in vocabulary.ids.items() if number != vocabulary.unknown_id]
  data.info["detector"]["labels"][1] = known[-1]
  found = captioner_model.named_labels(data, vocabulary, soft=True)
  assert found == {"label_words": [0, vocabulary.ids[known[-1]]], "label_columns": [1, 3]}


def test_the_size_of_a_global_feature_follows_from_the_data(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1, global_size=6)
  config = small_runs.captioner_config()
  vocabulary = captioner_model.build_vocabulary(data, config)
  found = captioner_model.model_config(data, vocabulary, config)
  assert (found.global_size, found.global_is_mean) == (6, False)


@pytest.mark.parametrize(("name", "size"), [("grid_size", 5), ("global_size", 7)])
def test_a_grid_or_global_feature_that_the_data_lacks_is_an_error(tmp_path, name, size):
  data = small_runs.data(tmp_path, train=2, val=1)
  with pytest.raises(errors.UserError, match=f"options.{name}={size}: .* has no features"):
    captioner_model.check_sizes({name: size}, data)


def test_gvd_reads_the_grid_and_the_global_feature_that_the_data_has(tmp_path):
  data = small_runs.data(tmp_path, train=4, val=2, grid=(4, 5), global_size=6)
  config = small_runs.captioner_config("gvd")
  vocabulary = captioner_model.build_vocabulary(data, config)
  chosen = captioner_model.model_config(data, vocabulary, config)
  assert (chosen.grid_size, chosen.global_size) == (5, 6)
  model = run_folders.make_model("captioner", "gvd", chosen)
  batch = next(
    iter(pipeline.training_batches(data.split("train"), vocabulary, pipeline.BatchConfig(images=2)))
  )

  def logits(**changed):
    return model.teacher_force(model.encode({**batch, **changed}), batch["tokens"])["logits"]

  for name in ("grid_features", "global_feature"):
    assert batch[name].shape[-1] == (5 if name == "grid_features" else 6)
    difference = logits() - logits(**{name: batch[name] + 1.0})
    assert float(tf.reduce_max(tf.abs(difference))) > 1e-5, name


def test_a_grid_can_be_left_out(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1, grid=(4, 5))
  config = small_runs.captioner_config("gvd")
  config = dataclasses.replace(config, options={**config.options, "grid_size": 0})
  vocabulary = captioner_model.build_vocabulary(data, config)
  assert captioner_model.model_config(data, vocabulary, config).grid_size == 0


def test_a_captioner_learns_from_a_grid(tmp_path):
  data = small_runs.data(tmp_path, train=4, val=2, grid=(4, 5))
  config = small_runs.captioner_config("gvd")
  config = dataclasses.replace(config, options={**config.options, "grid_size": 5})
  captioning.train(data, config, tmp_path / "run")
  assert run_folders.load(tmp_path / "run").model.config.grid_size == 5
