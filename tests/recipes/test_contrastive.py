"""Tests of gcap_tf/recipes/contrastive.py: presets, printed figures and table."""

from gcap_tf.captioners import catalog as captioners
from gcap_tf.recipes import catalog, contrastive, settings
from tests.recipes import tables


def test_presets_and_rows_are_valid_configurations():
  tables.check_presets(contrastive.CAPTIONERS, captioners.CAPTIONERS)
  tables.check_table(contrastive.table, (captioners.CAPTIONERS,))


def test_rows_differ_in_terms_and_reference():
  table = tables.small(contrastive.table)
  assert table.row("adaptive_negative").training.contrast.terms == "negative"
  crossed = table.row("neuraltalk2_adaptive").training
  assert (crossed.start, crossed.reference) == ("@neuraltalk2", "@adaptive")
  again = table.row("adaptive_cl_2").training
  assert (again.start, again.reference) == ("@adaptive_cl", "@adaptive_cl")
  assert table.row("adaptive_il").training.contrast.terms == "introspective"


def test_ablations_are_of_the_validation_split_and_self_retrieval_of_the_test_split():
  table = tables.small(contrastive.table)
  assert table.split == "val" and catalog.CAPTIONERS.get("adaptive_coco").split == "val"
  printed = table.row("adaptive_cl").printed
  assert printed[settings.COCO_VAL]["cider"] == 114.2
  assert printed[settings.COCO_TEST] == {
    "self_retrieval_1": 0.32,
    "self_retrieval_5": 1.18,
    "self_retrieval_50": 11.84,
    "self_retrieval_500": 80.96,
  }
  # The test server has other references than the test split of prepared data.
  assert "cider" not in printed[settings.COCO_TEST]


def test_captions_of_both_models_are_cut_to_18_words():
  table = contrastive.table()
  assert {table.row(name).training.max_words for name in ("adaptive", "neuraltalk2")} == {18}
