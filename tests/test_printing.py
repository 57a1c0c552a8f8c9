"""Tests of gcap_tf/printing.py."""

import math

from gcap_tf import printing


def test_one_is_singular():
  assert printing.count(1, "picture") == "1 picture"
  assert printing.count(0, "picture") == "0 pictures"
  assert printing.count(1234, "picture") == "1,234 pictures"
  assert printing.count(2, "class", "classes") == "2 classes"


def test_fractions_become_percent_and_counts_stay():
  assert printing.percent({"f1": 0.25, "words": 12, "name": "x"}) == {
    "f1": 25.0,
    "words": 12,
    "name": "x",
  }


def test_floats_are_rounded_and_other_values_stay():
  values = {"cider": 62.30170345, "seeds": [1, 2], "words": 419}
  assert printing.rounded(values) == {"cider": 62.3, "seeds": [1, 2], "words": 419}
  found = printing.significant({"loss": 0.000123456, "cider": 62.30170345, "bad": math.inf})
  assert found == {"loss": 0.0001235, "cider": 62.3, "bad": math.inf}
