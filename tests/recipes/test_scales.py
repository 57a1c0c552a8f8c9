"""Tests of gcap_tf/recipes/scales.py."""

from gcap_tf.recipes import scales
from gcap_tf.training import captioner_training, matcher_training, scst_training


def test_the_full_scale_changes_nothing():
  full = scales.SCALES.get("full")
  for model in ("scan", "sgraf"):
    published = matcher_training.MatcherTrainingConfig(model=model)
    assert scales.matcher(published, full) == published
  published = captioner_training.for_model("cyclical")
  assert scales.captioner(published, full) == published


def test_a_smaller_scale_cuts_sizes_and_steps_but_keeps_what_is_compared():
  small = scales.SCALES.get("small")
  published = captioner_training.for_model("cyclical")
  cut = scales.captioner(published, small)
  assert cut.options["hidden_size"] == small.units
  assert cut.max_steps == small.captioner_steps
  assert (cut.losses, cut.model, cut.seed) == (published.losses, "cyclical", published.seed)
  matcher = scales.matcher(matcher_training.MatcherTrainingConfig(model="sgraf"), small)
  assert matcher.options == {"joint_size": small.units, "similarity_size": small.units // 2}
  assert matcher.max_steps == small.matcher_steps


def test_fine_tuning_is_cut_in_steps_and_keeps_its_rewards():
  published = scst_training.ScstTrainingConfig(start="@xe", rewards="cider:1,bleu:0.5")
  assert scales.fine_tuned(published, scales.SCALES.get("full"), 1e-4) == published
  small = scales.SCALES.get("small")
  cut = scales.fine_tuned(published, small, 1e-4)
  assert (cut.start, cut.rewards) == (published.start, published.rewards)
  assert (cut.max_steps, cut.schedule.learning_rate) == (small.finetune_steps, 1e-4)
