"""Tests of gcap_tf/recipes/contrastive.py: presets, printed figures and table."""

from gcap_tf.captioners import catalog as captioners
from gcap_tf.recipes import contrastive
from tests.recipes import tables


def test_presets_and_rows_are_valid_configurations():
  tables.check_presets(contrastive.CAPTIONERS, captioners.CAPTIONERS)
  tables.check_table(contrastive.table, (captioners.CAPTIONERS,))


def test_rows_differ_in_terms_and_reference():
  table = tables.small(contrastive.table)
  assert table.row("adaptive_negative").training.contrast.terms == "negative"
  crossed = table.row("neuraltalk2_adaptive").training
  assert (crossed.start, crossed.reference) == ("@neuraltalk2", "@adaptive")
  assert table.row("adaptive_cl").printed["cider"] == 114.2
