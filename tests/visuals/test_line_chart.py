"""Tests of gcap_tf/visuals/line_chart.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.visuals import line_chart, pr_curve


def colours(picture):
  return {tuple(pixel) for pixel in np.asarray(picture).reshape(-1, 3)}


def test_every_line_has_its_colour():
  lines = {"CIDEr": [(0.0, 50.0), (1.0, 60.0)], "F1": [(0.0, 3.0), (1.0, 2.0)]}
  picture = line_chart.draw(lines, "title", "λ")
  assert set(pr_curve.COLOURS[:2]) <= colours(picture)
  assert pr_curve.COLOURS[2] not in colours(picture)


def test_a_common_range_starts_at_0():
  """The only point of a constant line is at the top of a common range."""
  common = line_chart.draw({"a": [(0.0, 5.0)]}, "", "", common=True, labels=["1-50"])
  rows = np.flatnonzero((np.asarray(common)[:, :400] == pr_curve.COLOURS[0]).all(-1).any(1))
  assert rows.mean() < 60


def test_a_chart_without_points_is_refused():
  with pytest.raises(errors.UserError, match="no line has a point"):
    line_chart.draw({"a": []}, "title", "x")
