"""Tests of gcap_tf/recipes/claims.py."""

import numpy as np
import pytest

from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.recipes import claims, experiments, settings

TABLE = experiments.Table(
  paper="paper",
  split="val",
  columns=(),
  rows=(
    experiments.Row(
      name="a", label="A", training=None, printed={settings.F30K_VAL: {"cider": 60.0}}
    ),
    experiments.Row(
      name="b", label="B", training=None, printed={settings.F30K_VAL: {"cider": 58.0}}
    ),
  ),
)


def runs(**figures):
  """Runs by row and seed: seeds 1, 2, ..., None is a seed that is not trained."""
  return {
    row: {
      seed: {"figures": {"cider": value}, "minutes": 1.0}
      for seed, value in enumerate(values, 1)
      if value is not None
    }
    for row, values in figures.items()
  }


NOISE = np.random.default_rng(0).normal(0, 20, [2, 100])


@pytest.mark.parametrize(
  ("shift", "lower", "verdict"),
  [
    (30.0, False, claims.HOLDS),
    (30.0, True, claims.FAILS),
    (-30.0, False, claims.FAILS),
    (-30.0, True, claims.HOLDS),
    (0.0, False, claims.UNKNOWN),
  ],
)
def test_the_interval_decides(shift, lower, verdict):
  claim = experiments.Claim(better="a", worse="b", key="cider", lower=lower)
  statistics = {
    "a": {1: {"cider": resampling.mean(50 + shift + NOISE[0])}},
    "b": {1: {"cider": resampling.mean(50 + NOISE[1])}, 2: {}},
  }
  found = claims.judge(TABLE, claim, runs(a=[50.0 + shift], b=[50.0, 70.0]), statistics)
  assert found["ours"] == [50.0 + shift, 50.0] and found["seeds"] == 1
  assert found["verdict"] == verdict and found["interval"]["seeds"] == 1
  assert found["paper"] == {"figures": [60.0, 58.0], "setting": "flickr30k_entities val"}


def test_without_pictures_the_means_decide():
  claim = experiments.Claim(better="a", worse="b", key="cider")
  found = claims.judge(TABLE, claim, runs(a=[49.0], b=[50.0]), {})
  assert (found["verdict"], found["interval"]) == (claims.FAILS, None)
  text = claims.sentence(found, "CIDEr")
  assert text == (
    "- **Does not hold here**: A is above B in CIDEr (49.00 against 50.00; in the paper 60 against "
    "58, flickr30k_entities val)."
  )


def test_too_few_seeds_of_both_rows_tell_nothing():
  claim = experiments.Claim(better="a", worse="b", key="cider")
  statistics = {
    "a": {seed: {"cider": resampling.mean(80 + NOISE[0])} for seed in (1, 2)},
    "b": {seed: {"cider": resampling.mean(50 + NOISE[1])} for seed in (1, 2)},
  }

  def judge(a, b):
    return claims.judge(TABLE, claim, runs(a=a, b=b), statistics, least_seeds=2)

  one = judge([80.0, 90.0], [50.0])
  assert (one["verdict"], one["ours"]) == (claims.UNKNOWN, [80.0, 50.0])
  assert "Cannot be told" in claims.sentence(one, "CIDEr")
  assert "95 %, 1 seed, 100 pictures" in claims.sentence(one, "CIDEr")
  both = judge([80.0, 90.0], [50.0, 40.0])
  assert (both["verdict"], both["interval"]["seeds"]) == (claims.HOLDS, 2)
  apart = judge([80.0], [None, 40.0])
  assert (apart["verdict"], apart["interval"], apart["seeds"]) == (claims.UNKNOWN, None, 0)
  assert "(80.00 against 40.00; no seed of both;" in claims.sentence(apart, "CIDEr")
  assert judge([80.0], [None]) is None
