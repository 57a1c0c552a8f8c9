"""The options of the training loop, which every method's configuration extends."""

import dataclasses

from gcap_tf import config as configs
from gcap_tf.training import computing, optimizers, schedules


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopOptions:
  """How long and how a run trains.

  Attributes:
    epochs: passes over the training data.
    max_steps: ends the run after this many steps if its epochs are longer; 0 sets no limit.
    evaluate_every: steps between validations; 0 validates at the end of every epoch.
    early_stop: validations without a better score before the run stops; 0 never stops early.
    seed: seed of initial weights, data order, dropout and sampling.
    schedule: learning rate over time.
    optimizer: Adam and gradient clipping.
    compute: devices, precision and faults.
  """

  epochs: configs.PositiveInt = 30
  max_steps: configs.Count = 0
  evaluate_every: configs.Count = 0
  early_stop: configs.Count = 0
  seed: configs.Seed = 1
  schedule: schedules.ScheduleConfig = dataclasses.field(default_factory=schedules.ScheduleConfig)
  optimizer: optimizers.OptimizerConfig = dataclasses.field(
    default_factory=optimizers.OptimizerConfig
  )
  compute: computing.ComputeConfig = dataclasses.field(default_factory=computing.ComputeConfig)
