r"""Trains an image-text matcher: SCAN, POS-SCAN, BFAN, PFAN, SGRAF or VSE++.

    python -m trainers.train_matcher --data=data/scenes --model=pos_scan --run=runs/pos_scan
    python -m trainers.train_matcher --data=data/f30k --model=scan --run=runs/scan \
      --ccr_weight=0.1 --ccs_weight=0.1 --set=options.aggregation=log_sum_exp
    python -m trainers.train_matcher --data=data/f30k --recipe=sgraf_saf_f30k \
      --run=runs/saf --seeds=1,2,3

Run it again with the same flags to go on after a stop. The best weights by validation rsum
are kept. The last line is one JSON object with the last validation figures; over several
seeds their means, and their deviations as KEY_std.
"""

import dataclasses

from absl import flags

from gcap_tf import errors
from gcap_tf.recipes import matchers as recipes
from gcap_tf.training.methods import matching
from trainers import recipe_flags, training_flags

_MODEL = flags.DEFINE_string(
  "model", None, "scan (the default), pos_scan, bfan, pfan, sgraf or vsepp."
)
_DIRECTION = flags.DEFINE_enum("direction", None, ["t2i", "i2t"], "Of SCAN and PFAN.")
_CCR = flags.DEFINE_float("ccr_weight", None, "Weight of the CCR constraint; the paper: 0.1 or 1.")
_CCS = flags.DEFINE_float("ccs_weight", None, "Weight of the CCS constraint; the paper: 0.1 or 1.")
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every caption.", 1)
_BATCH = flags.DEFINE_integer("batch_size", None, "Pairs of a step.", 2)
_RATE = flags.DEFINE_float("learning_rate", None, "At the start.")
_SET = flags.DEFINE_multi_string("set", [], "Any option, as key.path=value; see RUN/config.json")

flags.adopt_module_key_flags(recipe_flags)
flags.adopt_module_key_flags(training_flags)


def configuration() -> matching.MatcherTrainingConfig:
  """The flags as a configuration: the recipe, then flags, then `--set`."""
  recipe = recipe_flags.chosen(recipes.RECIPES, _MODEL.value)
  model = _MODEL.value or "scan"
  config = recipe.training if recipe else matching.MatcherTrainingConfig(model=model)
  weights = {"ccr_weight": _CCR.value, "ccs_weight": _CCS.value}
  weights = {name: value for name, value in weights.items() if value is not None}
  config = dataclasses.replace(config, losses=dataclasses.replace(config.losses, **weights))
  if _DIRECTION.value:
    config = dataclasses.replace(config, options={**config.options, "direction": _DIRECTION.value})
  given = {"epochs": _EPOCHS.value, "batch_size": _BATCH.value}
  return training_flags.apply(config, _SET.value, _RATE.value, **given)


def main(argv: list[str]) -> None:
  del argv
  recipe_flags.train(configuration, matching.train)


if __name__ == "__main__":
  errors.run(main)
