r"""Fine-tunes a captioner by self-critical sequence training (SCST).

    python -m trainers.finetune_scst --data=data/f30k --start=runs/updown --run=runs/updown_scst \
      --rewards=cider:1,matcher:1 --matcher=runs/scan

The reward is the weighted sum of named terms: cider, matcher (any matcher's score), bleu,
spice. The same command continues after a stop. RUN/rewards.md explains the reward curves. The
last line is one JSON object with the last validation figures.
"""

import dataclasses

from absl import flags

from gcap_tf import errors
from trainers import training_flags

_DATA = flags.DEFINE_string("data", None, "Prepared folder.")
_START = flags.DEFINE_string("start", None, "Run folder of the captioner to fine-tune.")
_RUN = flags.DEFINE_string("run", None, "Run folder to write, or to continue.")
_REWARDS = flags.DEFINE_string("rewards", "cider:1", "Terms and weights: cider:1,matcher:1.")
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
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every picture.", 1)
_IMAGES = flags.DEFINE_integer("images", None, "Pictures of a step.", 1)
_RATE = flags.DEFINE_float("learning_rate", None, "Constant; default 5e-5.")
_SEED = flags.DEFINE_integer("seed", 1, "Seed of order, dropout and samples.")

flags.adopt_module_key_flags(training_flags)


def configuration():
  """The flags as a configuration; `--set` has the last word."""
  from gcap_tf.training.methods import self_critical

  config = self_critical.ScstTrainingConfig(
    start=_START.value or "",
    rewards=_REWARDS.value,
    matcher=_MATCHER.value,
    teacher=_TEACHER.value,
    document_frequency=_FREQUENCY.value,
    seed=_SEED.value,
  )
  sampled = dataclasses.replace(
    config.sampled_captions,
    baseline=_BASELINE.value,
    samples=_SAMPLES.value,
    distill_weight=_DISTILL.value,
  )
  config = dataclasses.replace(config, sampled_captions=sampled)
  return training_flags.apply(config, _RATE.value, epochs=_EPOCHS.value, images=_IMAGES.value)


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.training.methods import self_critical

  config = configuration()
  errors.require(_DATA, _START, _RUN)
  training_flags.train(config, self_critical.train, _DATA.value, _RUN.value)


if __name__ == "__main__":
  errors.run(main)
