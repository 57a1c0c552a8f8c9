"""Tests of gcap_tf/recipes/constraint_search.py."""

import pytest

from gcap_tf import errors
from gcap_tf.recipes import constraint_search


def test_every_combination_of_weights_and_margins_is_a_row():
  both = constraint_search.table("scan_both")
  losses = {
    (found.ccr_weight, found.ccr_margin, found.ccs_weight, found.ccs_margin)
    for found in (row.training.losses for row in both.rows)
  }
  assert len(both.rows) == len(losses) == 36 and both.best == "rsum"
  assert len({row.name for row in both.rows}) == 36
  alone = constraint_search.table("bfan_ccr")
  assert len(alone.rows) == 6
  assert {row.training.losses.ccs_weight for row in alone.rows} == {0.0}


def test_a_row_without_a_constraint_is_refused():
  with pytest.raises(errors.UserError, match="no constraint to search; choose from scan_ccr"):
    constraint_search.table("scan")
