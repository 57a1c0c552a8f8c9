"""Flags of commands that train from a published preset, with one seed or several.

--recipe=NAME starts from a preset, whose options other flags override; --seeds=1,2,3 trains
RUN/seed_1 .. RUN/seed_3 and prints mean and standard deviation.
"""

import dataclasses
import json
import sys
from collections.abc import Callable
from typing import Any

from absl import flags

from gcap_tf import config as configs
from gcap_tf import errors, printing, registry
from trainers import training_flags

_DATA = flags.DEFINE_string("data", None, "Prepared folder.")
_RUN = flags.DEFINE_string("run", None, "Run folder to write, or to continue.")
_RECIPE = flags.DEFINE_string(
  "recipe", None, "Published preset to start from; --recipe=help lists them all."
)
_SEED = flags.DEFINE_integer(
  "seed", None, "Seed of initial weights, order and sampling; default 1."
)
_SEEDS = flags.DEFINE_list(
  "seeds", None, "Several, as 1,2,3: trains RUN/seed_N each, prints mean and deviation."
)


def chosen(recipes: registry.Registry, model: str | None) -> Any:
  """The recipe of --recipe, or None; --recipe=help lists the recipes and ends the program."""
  if _RECIPE.value is None:
    return None
  if _RECIPE.value == "help":
    for name in recipes.names():
      recipe = recipes.get(name)
      printed = ", ".join(f"{key} {value:g}" for key, value in recipe.printed.items())
      print(f"{name:38} {printed}".rstrip())
    sys.exit(0)
  recipe = recipes.get(_RECIPE.value)
  if model and model != recipe.training.model:
    raise errors.UserError(
      f"--model={model} contradicts --recipe={_RECIPE.value}, a preset of "
      f"{recipe.training.model}; leave --model out"
    )
  return recipe


def train(config: Any, train_one: Callable[..., dict[str, float]]) -> None:
  """Trains with a configuration; prints it first, and its figures as JSON last.

  Args:
    config: of a training method.
    train_one: that method's `train`: (data, configuration, folder) -> figures.
  """
  errors.require(_DATA, _RUN)
  from gcap_tf.data.prepared import prepared_data
  from gcap_tf.runs import seeds

  if _SEED.value is not None:
    config = dataclasses.replace(config, seed=_SEED.value)
  print(json.dumps(configs.to_dict(config), indent=2))
  data = prepared_data.PreparedData(_DATA.value)
  with training_flags.started(config):
    if _SEEDS.value is None:
      figures = train_one(data, config, _RUN.value, override=training_flags.override())
    else:
      figures = seeds.train_all(
        lambda own, folder: train_one(data, own, folder, override=training_flags.override()),
        lambda seed: dataclasses.replace(config, seed=seed),
        _RUN.value,
        _seeds(),
      )
      print(seeds.table(figures))
  print(json.dumps(printing.significant(figures)))


def _seeds() -> list[int]:
  if _SEED.value is not None:
    raise errors.UserError("give --seed or --seeds, not both")
  return errors.whole_numbers(_SEEDS)
