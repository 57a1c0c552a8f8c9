"""Tests of gcap_tf/recipes/papers/ccr_ccs.py."""

from gcap_tf.recipes.papers import ccr_ccs
from tests.recipes.papers import tables


def test_every_row_is_a_valid_configuration_at_every_scale():
  tables.check(ccr_ccs.table)


def test_each_model_comes_with_each_constraint():
  table = tables.small(ccr_ccs.table)
  losses = table.row("bfan_both").training.losses
  assert losses.ccr_weight > 0 and losses.ccs_weight > 0
  assert table.row("sgraf").training.losses.ccr_weight == 0
  assert table.row("scan_both").printed["attention_f1"] == 44.44
  assert len(table.rows) == 16
