"""Tests of gcap_tf/recipes/distributed.py: presets, printed figures and table."""

from gcap_tf.captioners import catalog as captioners
from gcap_tf.recipes import catalog, distributed, settings
from gcap_tf.training import first_stage
from tests.recipes import tables


def training(name):
  return catalog.CAPTIONERS.get(name).training


def test_presets_and_rows_are_valid_configurations():
  tables.check_presets(distributed.CAPTIONERS, captioners.CAPTIONERS)
  tables.check_table(distributed.table, (captioners.CAPTIONERS,))


def test_gvd_learns_its_region_map_and_classes_slower():
  slow = training("gvd_f30k").optimizer.slow
  assert slow == ("refine_region/kernel", "refine_region/bias", "classes/kernel")
  supervised = training("gvd_supervised_f30k")
  assert supervised.losses.grounding_weight == 0.1
  assert supervised.options["interaction_layers"] == 2


def test_presets_differ_in_branches_and_elimination():
  for k in (2, 3, 4, 5):
    assert training(f"distributed_k{k}_f30k").options == {"branches": k}
    assert training(f"distributed_k{k}_no_elimination_f30k").options["elimination"] is False
  assert first_stage.is_wanted(training("distributed_k4_f30k"))
  assert not first_stage.is_wanted(training("distributed_k1_f30k"))
  assert catalog.CAPTIONERS.get("distributed_k4_f30k").printed["f1_loc"] == 21.54


def test_rows_differ_in_branches_elimination_and_heads():
  table = tables.small(distributed.table)
  assert table.row("k1").training.options["branches"] == 1
  assert table.row("k5").training.options["branches"] == 5
  assert table.row("k4_keep").training.options["elimination"] is False
  assert table.row("k4_heads").training.options["heads"] == 4
  assert [table.row(f"k{n}_heads").training.options["heads"] for n in (2, 3, 4, 5, 6)] == [
    2, 3, 4, 5, 6,
  ]  # fmt: skip
  printed = table.row("k4").printed[settings.F30K_TEST]
  assert printed["error_partial"] == 2.03 and printed["f1_loc"] == 21.54
  assert table.row("k4_heads").printed[settings.F30K_TEST] == {"f1_all": 4.75, "f1_loc": 13.19}


def test_the_five_kinds_of_words_are_all_words():
  table = tables.small(distributed.table)
  for name in ("k1", "k4"):
    printed = table.row(name).printed[settings.F30K_TEST]
    shares = [value for key, value in printed.items() if key.startswith("error_")]
    assert len(shares) == 5 and abs(sum(shares) - 100) < 0.02
