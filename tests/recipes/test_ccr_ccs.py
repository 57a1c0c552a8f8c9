"""Tests of gcap_tf/recipes/ccr_ccs.py: presets, printed figures and table."""

from gcap_tf.matchers import catalog as matchers
from gcap_tf.recipes import catalog, ccr_ccs
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
  # The paper searches {0.1, 1}.
  assert both.losses.ccr_weight == both.losses.ccs_weight and both.losses.ccr_weight in (0.1, 1.0)


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
  assert table.row("scan_both").printed["attention_f1"] == 44.44
  assert len(table.rows) == 16
