"""Tests of gcap_tf/recipes/papers/contrastive.py."""

from gcap_tf.recipes.papers import contrastive
from tests.recipes.papers import tables


def test_every_row_is_a_valid_configuration_at_every_scale():
  tables.check(contrastive.table)


def test_rows_differ_in_terms_and_reference():
  table = tables.small(contrastive.table)
  assert table.row("adaptive_negative").training.contrast.terms == "negative"
  crossed = table.row("neuraltalk2_adaptive").training
  assert (crossed.start, crossed.reference) == ("@neuraltalk2", "@adaptive")
