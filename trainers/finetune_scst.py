r"""Fine-tunes a captioner by self-critical sequence training (SCST).

    python -m trainers.finetune_scst --data=data/f30k --start=runs/updown --run=runs/updown_scst \
      --rewards=cider:1,matcher:1 --matcher=runs/scan

The reward is the weighted sum of named terms: cider, matcher (any matcher's score), bleu,
spice. Run it again with the same flags to go on after a stop. RUN/rewards.md says how to read
the reward curves. The last line is one JSON object with the last validation figures.
"""

import dataclasses

from absl import flags

from gcap_tf import errors
from gcap_tf.training.methods import self_critical
from trainers import training_flags

_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_START = flags.DEFINE_string("start", None, "Run folder of the captioner to start.", required=True)
_RUN = flags.DEFINE_string("run", None, "Run folder to write, or to go on with.", required=True)
_REWARDS = flags.DEFINE_string("rewards", "cider:1", "Terms and weights: cider:1,matcher:1.")
_MATCHER = flags.DEFINE_string("matcher", "", "Run folder of the matcher that rewards.")
_TEACHER = flags.DEFINE_string(
  "teacher", "", "Run folder of the matcher that is distilled; default: that of --matcher."
)
_DISTILL = flags.DEFINE_float("distill_weight", 0.0, "Distillation on the nouns that are drawn.")
_BASELINE = flags.DEFINE_enum(
  "baseline", "greedy", ["greedy", "mean_of_others"], "What a drawn caption is compared with."
)
_SAMPLES = flags.DEFINE_integer("samples", 5, "Captions drawn per picture.", 1)
_FREQUENCY = flags.DEFINE_string(
  "document_frequency", "", "Reads *-idxs.p or a run's .npz instead of counting."
)
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every picture.", 1)
_IMAGES = flags.DEFINE_integer("images", None, "Pictures of a step.", 1)
_RATE = flags.DEFINE_float("learning_rate", None, "Constant; 5e-5 where not given.")
_SEED = flags.DEFINE_integer("seed", 1, "Of order, dropout and draws.")
_SET = flags.DEFINE_multi_string("set", [], "Any option, as key.path=value; see RUN/config.json.")


def configuration() -> self_critical.ScstTrainingConfig:
  """The flags as a configuration; `--set` has the last word."""
  config = self_critical.ScstTrainingConfig(
    start=_START.value,
    rewards=_REWARDS.value,
    matcher=_MATCHER.value,
    teacher=_TEACHER.value,
    document_frequency=_FREQUENCY.value,
    seed=_SEED.value,
  )
  sampled_captions = dataclasses.replace(
    config.sampled_captions,
    baseline=_BASELINE.value,
    samples=_SAMPLES.value,
    distill_weight=_DISTILL.value,
  )
  config = dataclasses.replace(config, sampled_captions=sampled_captions)
  given = {"epochs": _EPOCHS.value, "images": _IMAGES.value}
  return training_flags.apply(config, _SET.value, _RATE.value, **given)


def main(argv: list[str]) -> None:
  del argv
  training_flags.train(configuration(), self_critical.train, _DATA.value, _RUN.value)


if __name__ == "__main__":
  errors.run(main)
