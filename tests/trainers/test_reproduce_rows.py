"""Tests of trainers/reproduce_rows.py."""

import dataclasses
import json

from gcap_tf.recipes import experiments, scales
from gcap_tf.training.methods import matching
from tests.training import small_runs
from trainers import reproduce_rows


def test_a_row_is_kept_until_its_settings_change(tmp_path):
  data = small_runs.data(tmp_path)
  training = scales.matcher(
    matching.MatcherTrainingConfig(model="vsepp"), scales.SCALES.get("smoke")
  )
  row = experiments.Row(name="vsepp", label="VSE++", training=training)
  first = reproduce_rows.run(row, 7, data, "val", tmp_path / "out")
  assert first["figures"]["rsum"] > 0 and first["settings"][0]["seed"] == 7
  assert reproduce_rows.run(row, 7, data, "val", tmp_path / "out") == first
  longer = dataclasses.replace(row, training=dataclasses.replace(training, max_steps=5))
  again = reproduce_rows.run(longer, 7, data, "val", tmp_path / "out")
  assert again["settings"][0]["max_steps"] == 5


def test_a_run_from_before_an_option_is_kept(tmp_path):
  data = small_runs.data(tmp_path)
  training = scales.matcher(
    matching.MatcherTrainingConfig(model="vsepp"), scales.SCALES.get("smoke")
  )
  row = experiments.Row(name="vsepp", label="VSE++", training=training)
  reproduce_rows.run(row, 1, data, "val", tmp_path / "out")
  path = tmp_path / "out" / "vsepp" / "seed_1" / "result.json"
  before = json.loads(path.read_text())
  del before["settings"][0]["vocabulary_splits"]
  path.write_text(json.dumps({**before, "minutes": -1.0}))
  assert reproduce_rows.run(row, 1, data, "val", tmp_path / "out")["minutes"] == -1.0
  before["settings"][0]["an_option_of_old"] = 1
  path.write_text(json.dumps({**before, "minutes": -1.0}))
  assert reproduce_rows.run(row, 1, data, "val", tmp_path / "out")["minutes"] > 0


def test_an_ensemble_is_evaluated_and_not_trained(tmp_path):
  data = small_runs.data(tmp_path)
  smoke = scales.SCALES.get("smoke")
  training = scales.matcher(matching.MatcherTrainingConfig(model="vsepp"), smoke)
  member = experiments.Row(name="vsepp", label="VSE++", training=training)
  alone = reproduce_rows.run(member, 1, data, "val", tmp_path / "out")
  average = experiments.Row(
    name="both", label="both", training=experiments.Average(members=("@vsepp", "@vsepp"))
  )
  found = reproduce_rows.run(average, 1, data, "val", tmp_path / "out")
  assert found["figures"]["rsum"] == alone["figures"]["rsum"]
  kept = reproduce_rows.statistics(tmp_path / "out", "both", 1)
  assert abs(kept["rsum"].value - found["figures"]["rsum"]) < 1e-6
  assert not (tmp_path / "out" / "both" / "seed_1" / "checkpoints").exists()


def test_a_run_of_other_data_is_trained_again(tmp_path):
  smoke = scales.SCALES.get("smoke")
  training = scales.matcher(matching.MatcherTrainingConfig(model="vsepp"), smoke)
  row = experiments.Row(name="vsepp", label="VSE++", training=training)
  data = small_runs.data(tmp_path)
  first = reproduce_rows.run(row, 1, data, "val", tmp_path / "out")
  assert reproduce_rows.kept(row, 1, data, "val", tmp_path / "out") == first
  other = small_runs.data(tmp_path / "other", seed=5)
  assert reproduce_rows.kept(row, 1, other, "val", tmp_path / "out") is None
