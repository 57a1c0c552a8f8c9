"""Tests of trainers/reproduce_rows.py."""

import dataclasses

import pytest

from gcap_tf import errors
from gcap_tf.recipes import experiments, scales
from gcap_tf.training.methods import matching
from tests.training import small_runs
from trainers import reproduce_rows


def test_a_row_is_kept_until_its_settings_change(tmp_path):
  data = small_runs.data(tmp_path)
  training = scales.matcher(
    matching.MatcherTrainingConfig(model="vsepp"), scales.SCALES.get("smoke")
  )
  row = experiments.Row("vsepp", "VSE++", training)
  first = reproduce_rows.run(row, 7, data, "val", tmp_path / "out")
  assert first["figures"]["rsum"] > 0 and first["asked"][0]["seed"] == 7
  assert reproduce_rows.run(row, 7, data, "val", tmp_path / "out") == first
  longer = dataclasses.replace(row, training=dataclasses.replace(training, max_steps=5))
  again = reproduce_rows.run(longer, 7, data, "val", tmp_path / "out")
  assert again["asked"][0]["max_steps"] == 5


def test_seeds_are_whole_numbers():
  assert reproduce_rows.whole_numbers(["3", "1"]) == (3, 1)
  with pytest.raises(errors.UserError, match="--seeds=one: give whole numbers"):
    reproduce_rows.whole_numbers(["one"])
