"""Learning rates as functions of the step.

    constant      lr
    step_decay    lr * factor ** floor(epoch / every)     SCAN: factor 0.1; Up-Down: 0.8 every 3
                  epochs counted after the first `after`  GVD: after 1
    cosine        lr * (1 + cos(pi * step / steps)) / 2
    plateau       lr * factor ** drops, never below `least`; a drop after more than `every`
                  validations in a row without a better score (Cyclical: 0.1, 10)
Each may begin with a linear warm-up over `warmup_steps`.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal

from gcap_tf import config as configs


@dataclasses.dataclass(frozen=True)
class ScheduleConfig:
  """The symbols of the module's formulas.

  Attributes:
    kind: which formula.
    learning_rate: lr, the rate at the start.
    factor: by which the rate is multiplied at each decay.
    every: epochs between two decays; validations of a plateau.
    after: first epochs that do not count for the decay.
    warmup_steps: steps of the linear increase from 0 at the start.
    least: lower limit of the rate on plateaus.
  """

  kind: Literal["constant", "step_decay", "cosine", "plateau"] = "constant"
  learning_rate: configs.Weight = 5e-4
  factor: configs.Rate = 0.8
  every: configs.PositiveInt = 3
  after: configs.Count = 0
  warmup_steps: configs.Count = 0
  least: configs.Weight = 0.0


def learning_rate(
  config: ScheduleConfig,
  step: int,
  steps: int,
  steps_per_epoch: int,
  scores: Sequence[float] = (),
) -> float:
  """The rate of 0-based `step` out of `steps`; `scores`: of all validations so far."""
  rate = config.learning_rate
  if config.kind == "step_decay":
    epoch = max(step // steps_per_epoch - config.after, 0)
    rate *= config.factor ** (epoch // config.every)
  elif config.kind == "cosine":
    rate *= 0.5 * (1.0 + math.cos(math.pi * min(step / max(steps, 1), 1.0)))
  elif config.kind == "plateau":
    rate = max(rate * config.factor ** drops(scores, config.every), min(config.least, rate))
  if step < config.warmup_steps:
    rate *= (step + 1) / config.warmup_steps
  return rate


def drops(scores: Sequence[float], patience: int) -> int:
  """How often more than `patience` scores in a row were not above all earlier ones."""
  count, waiting, best = 0, 0, -math.inf
  for score in scores:
    waiting = 0 if score > best else waiting + 1
    best = max(best, score)
    if waiting > patience:
      count, waiting = count + 1, 0
  return count
