"""Tests of gcap_tf/recipes/papers/cyclical.py."""

from gcap_tf.recipes.papers import cyclical
from tests.recipes.papers import tables


def test_every_row_is_a_valid_configuration_at_every_scale():
  tables.check(cyclical.table)


def test_the_baseline_has_no_localiser_and_half_the_weight_on_words():
  table = tables.small(cyclical.table)
  baseline = table.row("baseline").training
  assert baseline.options["localizer"] == "none"
  assert (baseline.losses.cross_entropy_weight, baseline.losses.reconstruction_weight) == (0.5, 0.0)
  assert table.row("cyclical_8_2").training.losses.cross_entropy_weight == 0.8
  assert table.row("zero_representation").printed["f1_loc_per_sentence"] == 85.99
