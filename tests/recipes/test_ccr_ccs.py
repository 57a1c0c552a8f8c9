"""Tests of gcap_tf/recipes/ccr_ccs.py: presets, printed figures and table."""

from gcap_tf.matchers import catalog as matchers
from gcap_tf.recipes import catalog, ccr_ccs, constraint_search, settings
from tests.recipes import tables


def test_presets_and_rows_are_valid_configurations():
  tables.check_presets(ccr_ccs.MATCHERS, matchers.MATCHERS)
  tables.check_table(ccr_ccs.table, (matchers.MATCHERS,))


def test_schedules_are_the_published_ones():
  scan = catalog.MATCHERS.get("scan_t2i_avg_coco").training
  assert (scan.epochs, scan.schedule.learning_rate, scan.schedule.every) == (20, 5e-4, 10)
  assert scan.batch_size == 128
  assert scan.losses.margin == 0.2
  sgr = catalog.MATCHERS.get("sgraf_sgr_f30k").training
  assert (sgr.epochs, sgr.schedule.every) == (40, 30)
  assert catalog.MATCHERS.get("scan_i2t_lse_coco").training.options["lambda_lse"] == 20.0


def test_constrained_presets_differ_in_their_losses_alone():
  plain = catalog.MATCHERS.get("bfan_equal_f30k").training
  both = catalog.MATCHERS.get("bfan_equal_ccr_ccs_f30k").training
  assert both.options == plain.options
  # One point of the grid that the paper searches, the same as in the table.
  row = ccr_ccs.table().row("bfan_both").training.losses
  assert both.losses == row and both.losses.ccr_weight in constraint_search.WEIGHTS
  assert both.losses.ccr_margin in constraint_search.MARGINS
  catalog.MATCHERS.get("bfan_equal_ccr_ccs_coco")


def test_ensembles_have_known_members_and_printed_sums():
  for ensemble in ccr_ccs.ENSEMBLES.values():
    for member in ensemble.members:
      catalog.MATCHERS.get(member)
  sums = {name: e.printed["rsum"] for name, e in ccr_ccs.ENSEMBLES.items()}
  # Printed sums of the rows with both constraints; that of PFAN follows from its recalls.
  assert sums["scan_ccr_ccs_f30k"] == 472.3
  assert sums["pfan_ccr_ccs_f30k"] == 477.3
  assert sums["bfan_ccr_ccs_f30k"] == 481.9
  assert sums["sgraf_ccr_ccs_f30k"] == 504.7


def test_each_model_comes_with_each_constraint():
  table = tables.small(ccr_ccs.table)
  losses = table.row("bfan_both").training.losses
  assert losses.ccr_weight > 0 and losses.ccs_weight > 0
  assert table.row("sgraf_ccs").training.losses.ccr_weight == 0
  assert table.row("scan_both").printed[settings.F30K_TEST]["attention_f1"] == 44.44
  # Four models, four constraints: two members and their ensemble.
  assert len(table.rows) == 48


def test_ensembles_average_the_two_published_members():
  table = ccr_ccs.table()
  row = table.row("sgraf_ensemble_both")
  assert row.training.members == ("@sgraf_both", "@sgraf_sgr_both")
  assert row.printed[settings.F30K_TEST]["rsum"] == 504.7
  assert table.row("sgraf_sgr_both").training.epochs == 40
  assert table.row("bfan").training.epochs == 15
  ensembles = [row for row in table.rows if "ensemble" in row.name]
  assert {row.printed[settings.F30K_TEST]["rsum"] for row in ensembles} >= {
    463.6, 466.2, 470.4, 472.3, 473.5, 474.0, 476.3, 481.3, 478.6, 481.9, 499.6, 501.7, 502.4,
  }  # fmt: skip
