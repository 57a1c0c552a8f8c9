"""Tests of gcap_tf/training/run_files.py."""

import json

from gcap_tf.runs import run_folders
from gcap_tf.training import run_files
from tests.training import small_runs


def test_a_run_begins_with_its_options_its_words_and_where_its_data_is(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1)
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("matcher", "scan", {**small_runs.MATCHER_SIZES, **sizes})
  config = small_runs.matcher_config(seed=7)
  run = tmp_path / "run"
  run_files.write(run, "matcher", "scan", model.config, vocabulary, config, data, method="toy")
  written = json.loads((run / "config.json").read_text())
  assert written["training"]["seed"] == 7 and written["method"] == "toy"
  assert written["data"] == str(data.folder) and written["dataset"] == data.name
  assert (run / "vocabulary.json").exists()
  assert "_hparams_/session_start_info" in small_runs.summaries(run)
