"""Tests of gcap_tf/recipes/papers/pos_scan.py."""

from gcap_tf.recipes.papers import pos_scan
from tests.recipes.papers import tables


def test_every_row_is_a_valid_configuration_at_every_scale():
  tables.check(pos_scan.table)


def test_students_learn_from_the_matcher_they_are_named_after():
  table = tables.small(pos_scan.table)
  assert table.row("updown_scan").training.teacher == "@scan"
  assert table.row("updown_pos_scan").training.teacher == "@pos_scan"
  assert table.row("updown_boxes").training.losses.box_supervision == "nll"
