"""Tests of gcap_tf/training/board.py."""

import pytest
import tensorflow as tf

from gcap_tf.training import board, captioner_training, runs
from tests.training import small_runs


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  return small_runs.data(tmp_path_factory.mktemp("board"))


def tags(path):
  return {
    value.tag
    for event in tf.compat.v1.train.summary_iterator(str(path))
    for value in event.summary.value
  }


def captioner_run(data, folder):
  config = small_runs.captioner_config()
  vocabulary = data.build_vocabulary("captioner", 1)
  model_config = captioner_training.model_config(data, vocabulary, config)
  model = runs.make_model("captioner", "updown", model_config)
  runs.save(folder, "captioner", "updown", model, vocabulary, {"training": {"epochs": 1}})
  return runs.load(folder)


def test_captioner_shows_captions_and_the_attention_of_every_word(data, tmp_path):
  run = captioner_run(data, tmp_path / "run")
  split = data.split("val")
  first = split.record(0).image_id
  path = board.write(run, split, pictures=2)
  found = tags(path)
  assert {f"captions/{first}", f"attention/{first}", "captions"} <= found
  assert "_hparams_/session_start_info" in found
  assert sum(tag.startswith("attention/") for tag in found) == 2
  again = board.write(run, None)
  assert [p.name for p in (tmp_path / "run" / "tensorboard").iterdir()] == [again.name]
  assert tags(again) == {"_hparams_/session_start_info"}


def test_matcher_shows_attention_and_its_pr_curve(data, tmp_path):
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = runs.make_model("matcher", "scan", {**small_runs.MATCHER_SIZES, **sizes})
  runs.save(tmp_path / "run", "matcher", "scan", model, vocabulary)
  split = data.split("val")
  found = tags(board.write(runs.load(tmp_path / "run"), split, pictures=1))
  assert {
    f"attention/{split.record(0).image_id}",
    "attention/pr_curves",
    "attention_pr_curve",
  } <= found
