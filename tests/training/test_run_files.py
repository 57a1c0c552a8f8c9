"""Tests of gcap_tf/training/run_files.py."""

import dataclasses
import json

import pytest

from gcap_tf import errors, locks
from gcap_tf.runs import run_folders
from gcap_tf.training import run_files
from gcap_tf.training.methods import captioning, matching
from tests.training import small_runs


def checked(tmp_path, data, config, **further):
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("matcher", "scan", {**small_runs.MATCHER_SIZES, **sizes})
  return run_files.check(
    tmp_path / "run", "matcher", "scan", model, vocabulary, config, data, **further
  )


def content(folder):
  return {
    path: path.read_bytes()
    for path in folder.rglob("*")
    if path.is_file() and path.parent.name != "tensorboard"
  }


def test_a_run_begins_with_its_options_its_words_and_where_its_data_is(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1)
  run = tmp_path / "run"
  record = checked(tmp_path, data, small_runs.matcher_config(seed=7), method="toy")
  assert not run.exists()  # Nothing is written before everything fits.
  record.write(0)
  written = json.loads((run / "config.json").read_text())
  assert written["training"]["seed"] == 7 and written["method"] == "toy"
  assert written["data"] == str(data.folder) and written["dataset"] == data.name
  assert written["data_sha256"] == run_files.fingerprint(data)
  assert (run / "vocabulary.json").exists()
  assert "_hparams_/session_start_info" in small_runs.summaries(run)


def test_wrong_commands_on_a_finished_run_change_nothing_in_it(tmp_path):
  data = small_runs.data(tmp_path)
  run, config = tmp_path / "run", small_runs.captioner_config(max_steps=2)
  captioning.train(data, config, run)
  before = content(run)
  larger = config.options | {"hidden_size": 20}
  rate = dataclasses.replace(config.schedule, learning_rate=0.5)
  for other, message in (
    (dataclasses.replace(config, options=larger), r"options\.hidden_size"),
    (dataclasses.replace(config, schedule=rate, max_steps=4), r"schedule\.learning_rate"),
    (dataclasses.replace(config, seed=2), "seed"),
    (dataclasses.replace(config, images=5), "images"),
    (dataclasses.replace(config, model="gvd"), "model updown, not gvd"),
  ):
    with pytest.raises(errors.UserError, match=message):
      captioning.train(data, other, run)
  with pytest.raises(errors.UserError, match="kind captioner, not matcher"):
    matching.train(data, small_runs.matcher_config(), run, override=True)
  (tmp_path / "other").mkdir()
  with pytest.raises(errors.UserError, match=r"holds another run .*vocabulary"):
    captioning.train(small_runs.data(tmp_path / "other", seed=9), config, run)
  assert content(run) == before
  captioning.train(
    data, dataclasses.replace(config, schedule=rate, max_steps=3), run, override=True
  )
  written = json.loads((run / "config.json").read_text())
  assert written["overrides"] == [
    {"step": 2, "changes": {"schedule.learning_rate": [config.schedule.learning_rate, 0.5]}}
  ]


def test_two_trainings_do_not_share_a_run_folder(tmp_path):
  data = small_runs.data(tmp_path)
  with (
    locks.hold(tmp_path / "run"),
    pytest.raises(errors.UserError, match="being written by another program"),
  ):
    matching.train(data, small_runs.matcher_config(), tmp_path / "run")
  assert not (tmp_path / "run").exists()
