"""Tests of gcap_tf/recipes/scales.py."""

import dataclasses

from gcap_tf.recipes import scales
from gcap_tf.training.methods import captioning, contrastive, matching, self_critical


def test_the_full_scale_changes_nothing():
  full = scales.SCALES.get("full")
  for model in ("scan", "sgraf"):
    published = matching.MatcherTrainingConfig(model=model)
    assert scales.matcher(published, full) == published
  published = captioning.for_model("cyclical")
  assert scales.captioner(published, full) == published


def test_a_smaller_scale_cuts_sizes_and_steps_but_keeps_what_is_compared():
  small = scales.SCALES.get("small")
  published = captioning.for_model("cyclical")
  cut = scales.captioner(published, small)
  assert cut.options["hidden_size"] == small.units
  assert (cut.max_steps, cut.images) == (3 * small.captioner_steps, small.images // 2)
  assert not cut.first_stage_steps
  waiting = scales.captioner(dataclasses.replace(published, first_stage_epochs=35), small)
  assert (waiting.first_stage_epochs, waiting.first_stage_steps) == (0, 2 * small.captioner_steps)
  updown = scales.captioner(captioning.for_model("updown"), small)
  assert (updown.max_steps, updown.images) == (small.captioner_steps, small.images)
  assert (cut.losses, cut.model, cut.seed) == (published.losses, "cyclical", published.seed)
  matcher = scales.matcher(matching.MatcherTrainingConfig(model="sgraf"), small)
  assert matcher.options == {"joint_size": small.units, "similarity_size": small.units // 2}
  assert matcher.max_steps == small.matcher_steps


def test_fine_tuning_is_cut_in_steps_and_keeps_its_rewards():
  published = self_critical.ScstTrainingConfig(start="@xe", rewards="cider:1,bleu:0.5")
  full, small = scales.SCALES.get("full"), scales.SCALES.get("small")
  assert scales.self_critical(published, full) == published
  cut = scales.self_critical(published, small)
  assert (cut.start, cut.rewards) == (published.start, published.rewards)
  assert (cut.max_steps, cut.sampled_captions.baseline) == (small.scst_steps, "mean_of_others")
  published = contrastive.ContrastiveTrainingConfig(start="@xe", reference="@xe")
  assert scales.contrastive(published, full) == published
  cut = scales.contrastive(published, small)
  assert (cut.max_steps, cut.contrast) == (small.contrastive_steps, published.contrast)
