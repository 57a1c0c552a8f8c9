"""The first stage of captioners that learn their own idea second, in one run.

Distributed attention (arXiv:2108.01056, Sec. 4.1) trains a single branch for 20 epochs before
all; Cyclical training (arXiv:1906.00283, App. D) its decoder for about 35 before the cycle. The
first stage is a run in `RUN/warm_up`; the run itself begins with its weights, at its epoch.

Departure: Adam begins anew for all weights, as in the released Cyclical; Distributed does not
say whether the first branch kept its moments.
"""

import dataclasses
import pathlib
from typing import Any, Literal

import keras

from gcap_tf import errors, files
from gcap_tf.captioners import base, distributed
from gcap_tf.runs import checkpoints, run_folders


def is_asked(config: Any) -> bool:
  return bool(config.warm_up_epochs or config.warm_up_steps)


def stage(config: Any) -> Any:
  """The configuration of the first stage: one branch, no localiser, its own epochs or steps."""
  known = {field.name for field in dataclasses.fields(base.CAPTIONERS.get(config.model).Config)}
  plain = {"branches": 1, "localizer": "none"}
  if not known >= plain.keys():
    raise errors.UserError(
      f"warm-up is for captioners with branches or a localiser, not for {config.model}"
    )
  if config.warm_up_epochs >= config.epochs:
    raise errors.UserError(
      f"warm_up_epochs is {config.warm_up_epochs}; it must be below epochs, {config.epochs}"
    )
  if config.warm_up_epochs and config.warm_up_steps:
    raise errors.UserError("warm_up_epochs and warm_up_steps are both given; leave one of them 0")
  if config.max_steps and config.warm_up_steps >= config.max_steps:
    raise errors.UserError(
      f"warm_up_steps is {config.warm_up_steps}; it must be below max_steps, {config.max_steps}"
    )
  losses = dataclasses.replace(config.losses, reconstruction_weight=0.0, consistency_weight=0.0)
  return dataclasses.replace(
    config,
    options={**config.options, **plain},
    losses=losses,
    epochs=config.warm_up_epochs or config.epochs,
    max_steps=config.warm_up_steps or config.max_steps,
    warm_up_epochs=0,
    warm_up_steps=0,
  )


def folder_of(run: files.PathLike) -> pathlib.Path:
  """Where a run keeps its first stage."""
  return pathlib.Path(run) / "warm_up"


def begin(run: files.PathLike, model: keras.Model, weights: Literal["last", "best"]) -> None:
  """Gives a run's model the weights of its first stage, unless the run has begun already."""
  states = checkpoints.StepCheckpoints(pathlib.Path(run) / "checkpoints")
  if states.steps():
    return
  first = run_folders.load(folder_of(run), "captioner").model
  if weights == "last":
    last = checkpoints.StepCheckpoints(folder_of(run) / "checkpoints")
    last.restore_newest(model=first)
  distributed.grow(first, model)
