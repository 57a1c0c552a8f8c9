"""Flags that both fine-tuning commands have: data, start, run, recipe, and the size of a step.

config = fine_tuning_flags.published(self_critical.ScstTrainingConfig)
config = fine_tuning_flags.apply(config)
fine_tuning_flags.train(config, self_critical.train)
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from absl import flags

from gcap_tf import errors
from trainers import training_flags

C = TypeVar("C")

_DATA = flags.DEFINE_string("data", None, "Prepared folder.")
_START = flags.DEFINE_string("start", None, "Run folder of the captioner to fine-tune.")
_RUN = flags.DEFINE_string("run", None, "Run folder to write, or to continue.")
_RECIPE = flags.DEFINE_string(
  "recipe", None, "Published preset to start from; --recipe=help lists them all."
)
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every picture.", 1)
_IMAGES = flags.DEFINE_integer("images", None, "Pictures of a step.", 1)
_RATE = flags.DEFINE_float("learning_rate", None, "Constant; the default is the published one.")
_SEED = flags.DEFINE_integer("seed", 1, "Seed of order, dropout and draws.")

flags.adopt_module_key_flags(training_flags)


def published(kind: type[C]) -> C:
  """The configuration of --recipe, or the default one; --recipe=help lists and ends."""
  if _RECIPE.value is None:
    return kind()
  from gcap_tf.recipes import catalog

  presets = [catalog.FINE_TUNING.get(name) for name in catalog.FINE_TUNING.names()]
  own = [preset for preset in presets if isinstance(preset.training, kind)]
  if _RECIPE.value == "help":
    for preset in own:
      printed = ", ".join(f"{key} {value:g}" for key, value in preset.printed.items())
      print(f"{preset.name:24} {printed}")
    sys.exit(0)
  found = catalog.FINE_TUNING.get(_RECIPE.value)
  if found not in own:
    raise errors.UserError(
      f"--recipe={_RECIPE.value} is for another command; choose from "
      f"{', '.join(preset.name for preset in own)}"
    )
  return found.training


def apply(config: C) -> C:
  """`config` with these flags and those of any training; `--set` has the last word."""
  given = {"start": _START.value or "", "seed": _SEED.value}
  return training_flags.apply(
    config, _RATE.value, epochs=_EPOCHS.value, images=_IMAGES.value, **given
  )


def train(config: Any, train_one: Callable[..., dict[str, float]]) -> None:
  """Fine-tunes by a method's `train`; a missing --data, --start or --run is a `UserError`."""
  errors.require(_DATA, _START, _RUN)
  training_flags.train(config, train_one, _DATA.value, _RUN.value)
