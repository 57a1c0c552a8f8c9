"""Tests of gcap_tf/training/methods/captioner_training.py."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import catalog
from gcap_tf.data.prepared import pipeline
from gcap_tf.runs import run_folders
from gcap_tf.training import teacher_cache
from gcap_tf.training.methods import captioner_training, captioning
from tests.data import make_records
from tests.training import fine_tuned, small_runs


def losses_of(run):
  lines = [json.loads(line) for line in (run / "metrics.jsonl").open()]
  return [line for line in lines if "loss" in line]


def test_training_writes_a_run_that_loads_and_compiles_once_per_bucket(tmp_path, monkeypatch):
  data = small_runs.data(tmp_path)
  lengths = count_traces(monkeypatch)
  config = small_runs.captioner_config(captions_per_image=1, buckets=(6, 7, 9), epochs=4)
  config = dataclasses.replace(config, images=2)
  figures = captioner_training.train(data, config, tmp_path / "run")
  # Another length makes the graph take any, so that none compiles twice.
  assert 1 < len(lengths) <= 3 and len(lengths) == len(set(lengths))
  assert figures["best_score"] >= figures["cider"] >= 0
  run = run_folders.load(tmp_path / "run", "captioner")
  assert run.model.config.feature_size == 8 and run.model.config.num_labels == 0
  assert run.config["object_classes"] == list(data.object_classes)
  check_shown(tmp_path / "run", data.split("val").record(0))


def count_traces(monkeypatch):
  """The length of captions at every trace of a training step."""
  lengths, losses = [], captioning.CaptioningTrainer.losses

  def counted(self, batch, seed):
    lengths.append(batch["tokens"].shape[1])
    return losses(self, batch, seed)

  monkeypatch.setattr(captioning.CaptioningTrainer, "losses", counted)
  return lengths


def check_shown(run, record):
  """TensorBoard has curves, captions of every validation and the options."""
  found = small_runs.summaries(run)
  text = found["captions"][-1].tensor.string_val[0].decode()
  assert f"| {record.image_id} |" in text and " ".join(record.captions[0].tokens) in text
  assert len(found["captions"]) == 4
  assert {"training/cross_entropy", "validation/cider"} <= found.keys()
  assert "_hparams_/session_start_info" in found


def test_regions_with_labels_alone_are_learned_from_their_labels(tmp_path):
  data = small_runs.data(tmp_path, feature_size=0)
  captioner_training.train(data, small_runs.captioner_config(), tmp_path / "run")
  run = run_folders.load(tmp_path / "run")
  assert run.model.config.feature_size == 0
  assert run.model.config.num_labels == len(run.vocabulary.labels) > 0


def test_a_teacher_adds_its_loss_and_its_attention_is_kept(tmp_path):
  data = small_runs.data(tmp_path)
  fine_tuned.matcher(tmp_path / "teacher", data)
  config = small_runs.captioner_config(
    teacher=str(tmp_path / "teacher"), losses=captioning.CaptioningConfig(distill_weight=0.5)
  )
  captioner_training.train(data, config, tmp_path / "run")
  assert losses_of(tmp_path / "run")[-1]["distillation"] > 0
  kept = list((tmp_path / "teacher" / "attention").iterdir())
  teacher = run_folders.load(tmp_path / "teacher", "matcher")
  teacher_cache.open_or_compute(teacher, data.split("train"))
  assert list((tmp_path / "teacher" / "attention").iterdir()) == kept


def test_regions_that_lack_what_is_asked_for_are_refused(tmp_path):
  data = small_runs.data(tmp_path, labels=False)
  config = small_runs.captioner_config(region_labels="yes")
  with pytest.raises(errors.UserError, match="regions without labels"):
    captioner_training.train(data, config, tmp_path / "run")


def test_the_size_of_a_global_feature_follows_from_the_data(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1, global_size=6)
  config = small_runs.captioner_config()
  vocabulary = captioner_training.build_vocabulary(data, config)
  assert captioner_training.model_config(data, vocabulary, config).global_size == 6


@pytest.mark.parametrize(("name", "size"), [("grid_size", 5), ("global_size", 7)])
def test_a_grid_or_global_feature_that_the_data_lacks_is_an_error(tmp_path, name, size):
  data = small_runs.data(tmp_path, train=2, val=1)
  with pytest.raises(errors.UserError, match=f"options.{name}={size}: .* has no features"):
    captioner_training.check_sizes({name: size}, data)


def test_a_captioner_learns_from_a_grid(tmp_path):
  data = small_runs.data(tmp_path, train=4, val=2, grid=(4, 5))
  config = small_runs.captioner_config("gvd")
  config = dataclasses.replace(config, options={**config.options, "grid_size": 5})
  captioner_training.train(data, config, tmp_path / "run")
  assert run_folders.load(tmp_path / "run").model.config.grid_size == 5


@pytest.mark.parametrize(
  ("model", "clip", "words"), [("updown", "value", 16), ("distributed", "norm", 20)]
)
def test_each_family_has_its_published_settings(model, clip, words):
  config = captioner_training.for_model(model)
  assert (config.optimizer.clip, config.max_words) == (clip, words)
  assert config.optimizer.clip_at == 0.1


def test_cyclical_weighs_both_passes():
  losses = captioner_training.for_model("cyclical").losses
  assert losses.cross_entropy_weight == losses.reconstruction_weight == 0.5


def test_classes_of_regions_follow_from_the_data(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1)
  config = small_runs.captioner_config("gvd", region_classes="objects")
  vocabulary = captioner_training.build_vocabulary(data, config)
  assert vocabulary.labels == data.object_classes
  model = captioner_training.model_config(data, vocabulary, config)
  assert (model.num_classes, model.num_labels) == (6, 0)
  both = dataclasses.replace(config, region_labels="yes")
  vocabulary = captioner_training.build_vocabulary(data, both)
  assert set(vocabulary.labels) == set(data.object_classes)
  model = captioner_training.model_config(data, vocabulary, both)
  assert (model.num_classes, model.num_labels) == (6, 6)


@pytest.mark.parametrize("model", catalog.CAPTIONERS.names())
def test_every_captioner_learns_from_labels_alone(tmp_path, model):
  data = small_runs.data(tmp_path, train=3, val=1, feature_size=0)
  known = {field.name for field in dataclasses.fields(catalog.CAPTIONERS.get(model).Config)}
  sizes = {**small_runs.CAPTIONER_SIZES, "region_size": 6, "location_size": 4, "dropout": 0.0}
  options = {name: value for name, value in sizes.items() if name in known}
  config = captioner_training.CaptionerTrainingConfig(model, options, min_count=1)
  vocabulary = captioner_training.build_vocabulary(data, config)
  assert set(vocabulary.labels) <= set(make_records.NOUNS)
  chosen = captioner_training.model_config(data, vocabulary, config)
  captioner = run_folders.make_model("captioner", model, chosen)
  batches = pipeline.training_batches(
    data.split("train"), vocabulary, pipeline.BatchConfig(images=3, captions_per_image=2)
  )
  batch = next(iter(batches))
  trainer = captioning.CaptioningTrainer(captioner, captioning.CaptioningConfig(), vocabulary)
  table = captioner.region_input.labels.embeddings
  with tf.GradientTape() as tape:
    loss = trainer.losses(batch, tf.constant([1, 2]))["cross_entropy"]
  gradient = tf.convert_to_tensor(tape.gradient(loss, table.value))
  seen = set(batch["region_labels"].numpy().ravel())
  assert set(np.flatnonzero(np.abs(gradient).sum(-1))) == seen and 0 not in seen


def test_labels_that_are_words_can_be_named(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1, feature_size=0)
  config = small_runs.captioner_config()
  config = dataclasses.replace(config, options={**config.options, "naming": True})
  vocabulary = captioner_training.build_vocabulary(data, config)
  words = captioner_training.model_config(data, vocabulary, config).label_words
  assert len(words) == len(vocabulary.labels) + 1 and any(words)
  for label, word in zip(vocabulary.labels, words[1:], strict=True):
    assert vocabulary.words[word] == label if word else label not in vocabulary.words
