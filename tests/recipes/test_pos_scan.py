"""Tests of gcap_tf/recipes/pos_scan.py: presets, printed figures and table."""

from gcap_tf.captioners import catalog as captioners
from gcap_tf.matchers import catalog as matchers
from gcap_tf.recipes import catalog, pos_scan, settings
from tests.recipes import tables


def training(name):
  return catalog.CAPTIONERS.get(name).training


def test_presets_and_rows_are_valid_configurations():
  tables.check_presets(pos_scan.CAPTIONERS, captioners.CAPTIONERS)
  tables.check_presets(pos_scan.MATCHERS, matchers.MATCHERS)
  tables.check_table(pos_scan.table, (captioners.CAPTIONERS, matchers.MATCHERS))


def test_up_down_has_the_published_hyper_parameters():
  chosen = training("updown_f30k")
  assert (chosen.images, chosen.captions_per_image, chosen.epochs, chosen.max_words) == (
    29, 5, 30, 16,
  )  # fmt: skip
  assert (chosen.optimizer.clip, chosen.optimizer.clip_at) == ("value", 0.1)
  assert training("updown_coco").options["hidden_size"] == 1024


def test_distillation_weights_are_those_of_each_data_set():
  weights = [
    training(f"updown_distill_{name}").losses.distill_weight
    for name in ("f30k", "gvd_f30k", "coco")
  ]
  assert weights == [0.1, 0.2, 1.0]
  assert catalog.CAPTIONERS.get("updown_distill_f30k").needs_teacher


def test_students_learn_from_the_matcher_they_are_named_after():
  table = tables.small(pos_scan.table)
  assert table.row("updown_scan").training.teacher == "@scan"
  assert table.row("updown_pos_scan").training.teacher == "@pos_scan"
  assert table.row("updown_boxes").training.losses.box_supervision == "nll"


def test_a_preset_and_its_row_print_the_same_figures():
  preset = catalog.CAPTIONERS.get("updown_distill_f30k")
  row = tables.small(pos_scan.table).row("updown_pos_scan")
  assert row.printed == {settings.F30K_VAL: preset.printed}
  assert preset.printed["f1_loc"] == 17.96 and preset.split == "val"


def test_every_start_of_table_2_is_fine_tuned_with_every_reward():
  table = pos_scan.table()
  for start in ("updown", "updown_scan", "updown_pos_scan", "updown_boxes"):
    tuned = [row for row in table.rows if getattr(row.training, "start", "") == f"@{start}"]
    assert [row.training.rewards for row in tuned] == ["cider:1", *["cider:1,matcher:1"] * 2]
    assert [row.training.matcher for row in tuned] == ["", "@scan", "@pos_scan"]
  assert table.row("scst_scan").training.nouns == "tagger"
  assert table.row("updown").training.losses.scheduled_sampling.start == 0


def test_the_sweep_has_the_weights_of_figure_3():
  table = pos_scan.table()
  (curve,) = table.curves
  assert sorted(curve.points.values()) == [0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
  for name, weight in curve.points.items():
    assert table.row(name).training.losses.distill_weight == weight
