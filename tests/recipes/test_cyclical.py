"""Tests of gcap_tf/recipes/cyclical.py: presets, printed figures and table."""

import pytest
import tensorflow as tf

from gcap_tf.captioners import catalog as captioners
from gcap_tf.recipes import catalog, claims, cyclical, settings
from gcap_tf.training.methods import captioning
from tests.recipes import tables
from tests.training.regularizers import steps


def training(name):
  return catalog.CAPTIONERS.get(name).training


def test_presets_and_rows_are_valid_configurations():
  tables.check_presets(cyclical.CAPTIONERS, captioners.CAPTIONERS)
  tables.check_table(cyclical.table, (captioners.CAPTIONERS,))


def test_presets_change_what_the_paper_changes():
  assert training("cyclical_baseline_f30k").losses.cross_entropy_weight == 0.5
  losses = training("cyclical_f30k").losses
  assert (losses.cross_entropy_weight, losses.reconstruction_weight) == (0.6, 0.4)
  assert training("cyclical_zero_loss_f30k").losses.reconstruction_words == "nouns"
  assert training("cyclical_zero_representation_f30k").losses.localized_words == "nouns"
  assert training("cyclical_mlp_f30k").options == {"localizer": "mlp"}


def test_the_baseline_has_no_localiser_and_half_the_weight_on_words():
  table = tables.small(cyclical.table)
  baseline = table.row("baseline").training
  assert baseline.options["localizer"] == "none"
  assert (baseline.losses.cross_entropy_weight, baseline.losses.reconstruction_weight) == (0.5, 0.0)
  assert table.row("cyclical_8_2").training.losses.cross_entropy_weight == 0.8


@pytest.mark.parametrize(
  ("regions", "detector", "f1_loc"),
  [
    ("store", "", 13.53),  # Table 6
    ("perfect", "", 54.54),  # Table 8
    ("pictures", "shipped", 19.65),  # Table 11
    ("noisy", "", None),
  ],
)
def test_printed_figures_are_those_of_the_detector_of_the_data(regions, detector, f1_loc):
  row = tables.small(cyclical.table).row("cyclical")
  own = settings.setting_of("flickr30k_entities", "test", 1000, regions, detector)
  assert row.printed_for(own).get("f1_loc") == f1_loc


def test_a_claim_of_one_table_is_not_printed_with_figures_of_another():
  table = cyclical.table()
  (claim,) = [claim for claim in table.claims if claim.worse == "consistency"]
  assert claims.printed(table, claim) == {
    "figures": [5.63, 4.19],  # Table 4; Table 10 prints 4.93 for Cyclical.
    "setting": "flickr30k_entities val",
  }


def test_the_supervised_baseline_learns_attention_and_region_classes():
  published = cyclical.table().row("supervised").training
  assert published == training("cyclical_supervised_f30k")
  losses = tables.small(cyclical.table).row("supervised").training.losses
  assert losses.attention_weight > 0 and losses.classification_weight > 0


def test_every_preset_with_a_localiser_trains_it():
  batch = steps.make_batch()
  for preset in cyclical.CAPTIONERS:
    if preset.training.options.get("localizer") == "none":
      continue
    model = steps.make_model("cyclical", **preset.training.options)
    trainer = captioning.CaptioningTrainer(model, preset.training.losses, steps.WORDS)
    with tf.GradientTape() as tape:
      total = tf.add_n(list(trainer.losses(batch, steps.SEED).values()))
    gradients = tape.gradient(total, model.localizer.trainable_variables)
    assert gradients and all(float(tf.norm(found)) > 0 for found in gradients), preset.name
