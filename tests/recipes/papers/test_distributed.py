"""Tests of gcap_tf/recipes/papers/distributed.py."""

from gcap_tf.recipes.papers import distributed
from tests.recipes.papers import tables


def test_every_row_is_a_valid_configuration_at_every_scale():
  tables.check(distributed.table)


def test_rows_differ_in_branches_elimination_and_streams():
  table = tables.small(distributed.table)
  assert table.row("k1").training.options["branches"] == 1
  assert table.row("k5").training.options["branches"] == 5
  assert table.row("k4_keep").training.options["elimination"] is False
  assert table.row("k4").printed["f1_loc"] == 21.54
