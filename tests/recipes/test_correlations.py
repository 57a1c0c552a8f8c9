"""Tests of gcap_tf/recipes/correlations.py."""

import pytest

from gcap_tf.recipes import correlations, experiments

WANTED = experiments.Correlation(
  label="SCAN", rows=("a", "b"), keys=("attention_f1", "rsum"), printed=0.967
)


def runs(*points):
  figures = [{"figures": {"attention_f1": x, "rsum": y}} for x, y in points]
  return {"a": {1: figures[0], 2: figures[1]}, "b": {1: figures[2]}, "c": {1: {"figures": {}}}}


def test_the_coefficient_is_over_all_runs_of_the_rows():
  found = correlations.summarise(WANTED, runs((1, 10), (2, 20), (3, 15)))
  assert found["r"] == pytest.approx(0.5) and found["runs"] == 3
  text = correlations.sentence(found, {"attention_f1": "Attention F1"})
  assert text == (
    "- SCAN: correlation of Attention F1 and rsum 0.500 over 3 runs; in the paper 0.967."
  )


def test_two_runs_or_equal_figures_have_none():
  assert correlations.summarise(WANTED, {"a": {1: {"figures": {}}}}) is None
  assert correlations.summarise(WANTED, runs((1, 10), (1, 20), (1, 15))) is None
