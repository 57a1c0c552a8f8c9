"""Tests of gcap_tf/recipes/scales.py."""

import dataclasses

import pytest

from gcap_tf import errors
from gcap_tf.recipes import catalog, scales
from gcap_tf.training.methods import contrastive, matching, self_critical


def test_the_full_scale_changes_nothing():
  full = scales.SCALES.get("full")
  for paper in catalog.TABLES.values():
    published, table = paper(), scales.scaled(paper(), full)
    assert [row.training for row in table.rows] == [row.training for row in published.rows]
    assert not any(row.departures for row in table.rows)


def test_a_smaller_scale_cuts_sizes_and_steps_but_keeps_what_is_compared():
  small = scales.SCALES.get("small")
  published = catalog.for_model("cyclical")
  cut = scales.captioner(published, small)
  assert cut.options["hidden_size"] == small.units
  assert (cut.max_steps, cut.images) == (3 * small.captioner_steps, small.images // 2)
  assert (cut.first_stage_epochs, cut.first_stage_steps) == (0, 2 * small.captioner_steps)
  alone = scales.captioner(dataclasses.replace(published, first_stage_epochs=0), small)
  assert not alone.first_stage_steps
  updown = scales.captioner(catalog.for_model("updown"), small)
  assert (updown.max_steps, updown.images) == (small.captioner_steps, small.images)
  assert (cut.losses, cut.model, cut.seed) == (published.losses, "cyclical", published.seed)
  matcher = scales.matcher(matching.MatcherTrainingConfig(model="sgraf"), small)
  assert matcher.options == {"joint_size": small.units, "similarity_size": small.units // 2}
  assert matcher.max_steps == small.matcher_steps


def test_fine_tuning_is_cut_in_steps_and_keeps_its_rewards():
  published = self_critical.ScstTrainingConfig(start="@xe", rewards="cider:1,bleu:0.5")
  full, small = scales.SCALES.get("full"), scales.SCALES.get("small")
  assert scales.apply(published, full) == published
  cut = scales.scst(published, small)
  assert (cut.start, cut.rewards) == (published.start, published.rewards)
  assert (cut.max_steps, cut.sampled_captions.baseline) == (small.scst_steps, "mean_of_others")
  published = contrastive.ContrastiveTrainingConfig(start="@xe", reference="@xe")
  assert scales.apply(published, full) == published
  cut = scales.contrasted(published, small)
  assert (cut.max_steps, cut.contrast) == (small.contrastive_steps, published.contrast)


def test_losses_on_attention_weigh_more_where_steps_are_few():
  small = scales.SCALES.get("small")
  table = scales.scaled(catalog.TABLES["pos_scan"](), small)
  assert table.row("updown_pos_scan").training.losses.distill_weight == 1.0
  departures = table.row("updown_pos_scan").departures
  assert departures["losses.distill_weight"] == (0.1, 1.0)
  assert departures["losses.scheduled_sampling.start"] == (0, -1)
  assert "losses.box_weight" not in departures
  assert departures["options.hidden_size"] == (512, 128)


def test_a_longer_scale_has_more_steps_and_says_so():
  small = scales.SCALES.get("small")
  longer = small.longer(2.5)
  assert longer.captioner_steps == round(2.5 * small.captioner_steps)
  assert longer.units == small.units and longer.label == "small, 2.5 times its steps"
  assert longer.flags == {"scale": "small", "longer": "2.5"}
  assert small.longer(1.0) is small and small.flags == {"scale": "small"}
  with pytest.raises(errors.UserError, match="changes no steps at --scale=full"):
    scales.SCALES.get("full").longer(2.0)
