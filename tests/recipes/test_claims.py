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
  means = {"a": {"cider": 50.0 + shift}, "b": {"cider": 50.0}}
  found = claims.judge(TABLE, claim, means, statistics)
  assert found["verdict"] == verdict and found["interval"]["seeds"] == 1
  assert found["paper"] == {"figures": [60.0, 58.0], "setting": "flickr30k_entities val"}


def test_without_pictures_the_means_decide():
  claim = experiments.Claim(better="a", worse="b", key="cider")
  means = {"a": {"cider": 49.0}, "b": {"cider": 50.0}}
  found = claims.judge(TABLE, claim, means, {})
  assert (found["verdict"], found["interval"]) == (claims.FAILS, None)
  text = claims.sentence(found, "CIDEr")
  assert text == (
    "- **Does not hold here**: A is above B in CIDEr (49.00 against 50.00; in the paper 60 against "
    "58, flickr30k_entities val)."
  )
