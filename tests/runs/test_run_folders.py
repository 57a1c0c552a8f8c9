"""Tests of gcap_tf/runs/run_folders.py."""

import json

import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.captioners import updown
from gcap_tf.matchers import scan
from gcap_tf.runs import checkpoints, packed_weights, run_folders
from gcap_tf.text import vocabulary

WORDS = [["a", "red", "dog", "sees", "two", "men"]]
CONFIGS = {
  "matcher": ("scan", scan.SCANConfig(vocabulary_size=10, feature_size=5, joint_size=4)),
  "captioner": (
    "updown",
    updown.UpDownConfig(vocabulary_size=8, feature_size=5, hidden_size=6, attention_size=4),
  ),
}


def saved(folder, kind):
  name, config = CONFIGS[kind]
  words = vocabulary.Vocabulary.build(WORDS, kind, 1)
  model = run_folders.make_model(kind, name, config)
  run_folders.save(folder, kind, name, model, words, {"dataset": "none"})
  return model, words


@pytest.mark.parametrize("kind", ["matcher", "captioner"])
def test_a_saved_run_comes_back_whole(tmp_path, kind):
  model, words = saved(tmp_path, kind)
  run = run_folders.load(tmp_path)
  assert (run.kind, run.name) == (kind, CONFIGS[kind][0])
  assert run.vocabulary == words and run.model.config == CONFIGS[kind][1]
  assert run.config["dataset"] == "none"
  assert len(model.variables) == len(run.model.variables) > 0
  for ours, theirs in zip(model.variables, run.model.variables, strict=True):
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_another_kind_than_needed_is_refused(tmp_path):
  saved(tmp_path, "matcher")
  with pytest.raises(errors.UserError, match=r"holds a matcher \(scan\), not a captioner"):
    run_folders.load(tmp_path, "captioner")


def test_a_vocabulary_of_another_run_is_refused(tmp_path):
  saved(tmp_path, "captioner")
  vocabulary.Vocabulary.build([["x", "y"]], "captioner", 1).save(tmp_path / "vocabulary.json")
  with pytest.raises(
    errors.UserError, match="is not the vocabulary that this run was trained with"
  ):
    run_folders.load(tmp_path)


def test_a_folder_without_a_run_or_without_weights_says_so(tmp_path):
  with pytest.raises(errors.UserError, match=r"has no config\.json"):
    run_folders.load(tmp_path)
  name, config = CONFIGS["matcher"]
  run_folders.write_config(
    tmp_path, "matcher", name, config, vocabulary.Vocabulary.build(WORDS, "matcher", 1)
  )
  with pytest.raises(errors.UserError, match="has no weights yet"):
    run_folders.load(tmp_path)


def test_weights_that_do_not_fit_the_options_are_refused(tmp_path):
  saved(tmp_path, "matcher")
  config = json.loads((tmp_path / "config.json").read_text())
  config["model_config"]["joint_size"] = 7
  del config["checksum"]
  (tmp_path / "config.json").write_text(json.dumps(config))
  with pytest.raises(errors.UserError, match="does not fit the model"):
    run_folders.load(tmp_path)


@pytest.mark.parametrize("kind", ["matcher", "captioner"])
def test_a_packed_run_loads_like_any_other(tmp_path, kind):
  model, words = saved(tmp_path, kind)
  packed_weights.save(packed_weights.path_of(tmp_path), model)
  files.remove(checkpoints.best_path(tmp_path).parent)
  run = run_folders.load(tmp_path, kind)
  assert run.vocabulary == words and run.model.config == CONFIGS[kind][1]
  for ours, theirs in zip(model.variables, run.model.variables, strict=True):
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-3, atol=1e-6)


def test_packed_weights_that_do_not_fit_the_options_are_refused(tmp_path):
  model, _ = saved(tmp_path, "captioner")
  packed_weights.save(packed_weights.path_of(tmp_path), model)
  files.remove(checkpoints.best_path(tmp_path).parent)
  config = files.read_sealed_json(tmp_path / "config.json", "options")
  config["model_config"]["hidden_size"] = 7
  files.write_json(tmp_path / "config.json", config)
  with pytest.raises(errors.UserError, match="do not fit the model of their run folder"):
    run_folders.load(tmp_path)
