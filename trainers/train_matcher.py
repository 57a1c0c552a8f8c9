r"""Trains an image-text matcher: SCAN, POS-SCAN, BFAN, PFAN, SGRAF or VSE++.

    python -m trainers.train_matcher --data=data/scenes --model=pos_scan --run=runs/pos_scan
    python -m trainers.train_matcher --data=data/f30k --model=scan --run=runs/scan \
      --ccr_weight=0.1 --ccs_weight=0.1 --set=options.aggregation=log_sum_exp
    python -m trainers.train_matcher --data=data/f30k --recipe=sgraf_saf_f30k \
      --run=runs/saf --seeds=1,2,3

The same command continues after a stop. The best weights by validation rsum are kept. The
last line is one JSON object with the last validation figures; for several seeds with their
means, and their deviations as KEY_std.
"""

import dataclasses

from absl import flags

from gcap_tf import errors
from trainers import recipe_flags, training_flags

_MODEL = flags.DEFINE_string(
  "model", None, "scan (the default), pos_scan, bfan, pfan, sgraf or vsepp."
)
_DIRECTION = flags.DEFINE_enum("direction", None, ["t2i", "i2t"], "Of SCAN and PFAN.")
_CCR = flags.DEFINE_float("ccr_weight", None, "Weight of the CCR constraint.", 0.0)
_CCS = flags.DEFINE_float("ccs_weight", None, "Weight of the CCS constraint.", 0.0)
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every caption.", 1)
_BATCH = flags.DEFINE_integer("batch_size", None, "Pairs of a step.", 2)
_RATE = flags.DEFINE_float("learning_rate", None, "Learning rate at the start.")

flags.adopt_module_key_flags(recipe_flags)
flags.adopt_module_key_flags(training_flags)


def configuration():
  """The flags as a configuration: the recipe, then flags, then `--set`."""
  from gcap_tf.matchers import catalog
  from gcap_tf.recipes import catalog as recipes
  from gcap_tf.training.methods import matching

  recipe = recipe_flags.chosen(recipes.MATCHERS, _MODEL.value)
  model = _MODEL.value or "scan"
  config = recipe.training if recipe else matching.MatcherTrainingConfig(model=model)
  weights = {"ccr_weight": _CCR.value, "ccs_weight": _CCS.value}
  weights = {name: value for name, value in weights.items() if value is not None}
  config = dataclasses.replace(config, losses=dataclasses.replace(config.losses, **weights))
  if _DIRECTION.value:
    config = dataclasses.replace(config, options={**config.options, "direction": _DIRECTION.value})
  given = {"epochs": _EPOCHS.value, "batch_size": _BATCH.value}
  return training_flags.apply(config, _RATE.value, catalog.MATCHERS, **given)


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.training.methods import matching

  recipe_flags.train(configuration(), matching.train)


if __name__ == "__main__":
  errors.run(main)
