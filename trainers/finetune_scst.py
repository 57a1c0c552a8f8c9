r"""Fine-tunes a captioner by self-critical sequence training (SCST).

    python -m trainers.finetune_scst --data=data/f30k --start=runs/updown --run=runs/updown_scst \
      --rewards=cider:1,matcher:1 --matcher=runs/scan

The reward is the weighted sum of named terms: cider, matcher (any matcher's score), objects, bleu,
spice. The same command continues after a stop. RUN/rewards.md explains the reward curves. The
last line is one JSON object with the last validation figures.
"""

import dataclasses

from absl import flags

from gcap_tf import errors
from trainers import fine_tuning_flags

_REWARDS = flags.DEFINE_string(
  "rewards", None, "Terms and weights, as cider:1,matcher:1; default: cider:1, or the recipe's."
)
_MATCHER = flags.DEFINE_string("matcher", "", "Run folder of the matcher that rewards.")
_TEACHER = flags.DEFINE_string(
  "teacher", "", "Run folder of the matcher to distil; default: that of --matcher."
)
_DISTILL = flags.DEFINE_float(
  "distill_weight", 0.0, "Weight of distillation on the nouns of sampled captions.", 0.0
)
_BASELINE = flags.DEFINE_enum(
  "baseline", "greedy", ["greedy", "mean_of_others"], "Reward that a sample is compared with."
)
_SAMPLES = flags.DEFINE_integer("samples", 5, "Captions sampled per picture.", 1)
_FREQUENCY = flags.DEFINE_string(
  "document_frequency", "", "Reads *-idxs.p or a run's .npz instead of counting."
)

flags.adopt_module_key_flags(fine_tuning_flags)


def configuration():
  """The flags as a configuration; `--set` has the last word."""
  from gcap_tf.training.methods import self_critical

  config = fine_tuning_flags.published(self_critical.ScstTrainingConfig)
  config = dataclasses.replace(
    config,
    rewards=_REWARDS.value or config.rewards,
    matcher=_MATCHER.value,
    teacher=_TEACHER.value,
    document_frequency=_FREQUENCY.value,
  )
  sampled = dataclasses.replace(
    config.sampled_captions,
    baseline=_BASELINE.value,
    samples=_SAMPLES.value,
    distill_weight=_DISTILL.value,
  )
  return fine_tuning_flags.apply(dataclasses.replace(config, sampled_captions=sampled))


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.training.methods import self_critical

  fine_tuning_flags.train(configuration(), self_critical.train)


if __name__ == "__main__":
  errors.run(main)
