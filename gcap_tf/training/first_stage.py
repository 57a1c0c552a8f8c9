"""The first stage of captioners that are trained in two stages, in one run.

Distributed attention (arXiv:2108.01056, Sec. 4.1) trains a single branch for 20 epochs before
all; Cyclical training (arXiv:1906.00283, App. D) its decoder for about 35 before the cycle. The
first stage is a run in `RUN/first_stage`; the run itself begins with its weights, at its epoch.

Departure: Adam's moments begin at 0 for all weights, as in the released Cyclical; Distributed
does not say whether the first branch kept its moments.
"""

import dataclasses
import pathlib
from typing import Any

import keras

from gcap_tf import errors, files
from gcap_tf.captioners import catalog, distributed
from gcap_tf.runs import checkpoints, run_folders
from gcap_tf.training import loop, regularization


def is_wanted(config: Any) -> bool:
  """Whether a captioner's configuration has a first stage."""
  return bool(config.first_stage_epochs or config.first_stage_steps)


def stage(config: Any) -> Any:
  """The configuration of the first stage: one branch, no localiser, its own epochs or steps."""
  known = {field.name for field in dataclasses.fields(catalog.CAPTIONERS.get(config.model).Config)}
  plain = {"branches": 1, "localizer": "none"}
  if not known >= plain.keys():
    raise errors.UserError(
      f"a first stage is for captioners with branches or a localiser, not for {config.model}"
    )
  if config.first_stage_epochs >= config.epochs:
    raise errors.UserError(
      f"first_stage_epochs is {config.first_stage_epochs}; it must be below epochs, {config.epochs}"
    )
  if config.first_stage_epochs and config.first_stage_steps:
    raise errors.UserError(
      "first_stage_epochs and first_stage_steps are both given; leave one of them 0"
    )
  if config.max_steps and config.first_stage_steps >= config.max_steps:
    raise errors.UserError(
      f"first_stage_steps is {config.first_stage_steps}; it must be below max_steps, "
      f"{config.max_steps}"
    )
  return dataclasses.replace(
    config,
    options={**config.options, **plain},
    losses=regularization.without_localizer(config.losses),
    epochs=config.first_stage_epochs or config.epochs,
    max_steps=config.first_stage_steps or config.max_steps,
    first_stage_epochs=0,
    first_stage_steps=0,
  )


def folder_of(run: files.PathLike) -> pathlib.Path:
  """The folder of a run's first stage; runs of earlier versions have it in `warm_up`."""
  before = pathlib.Path(run) / "warm_up"
  return before if before.exists() else pathlib.Path(run) / "first_stage"


def begin(
  run: files.PathLike, model: keras.Model, config: Any, loop_config: loop.LoopConfig
) -> loop.LoopConfig:
  """Gives a run's model the weights of its first stage, unless the run has begun already.

  Returns:
    The loop that continues after the steps of the first stage.
  """
  states = checkpoints.StepCheckpoints(pathlib.Path(run) / "checkpoints")
  if not states.steps():
    first = run_folders.load(folder_of(run), "captioner").model
    if config.first_stage_weights == "last":
      last = checkpoints.StepCheckpoints(folder_of(run) / "checkpoints")
      last.restore_newest(model=first)
    distributed.grow(first, model)
  steps = config.first_stage_steps or config.first_stage_epochs * loop_config.steps_per_epoch
  return dataclasses.replace(loop_config, start_step=min(steps, loop_config.steps))
