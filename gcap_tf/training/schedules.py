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


@dataclasses.dataclass(frozen=True)
class ScheduleConfig:
  """Attributes as in the module's formulas; `every` counts epochs, or validations (plateau)."""

  kind: Literal["constant", "step_decay", "cosine", "plateau"] = "constant"
  learning_rate: float = 5e-4
  factor: float = 0.8
  every: int = 3
  after: int = 0
  warmup_steps: int = 0
  least: float = 0.0


def learning_rate(
  config: ScheduleConfig,
  step: int,
  steps: int,
  steps_per_epoch: int,
  scores: Sequence[float] = (),
) -> float:
  """The rate of 0-based `step` out of `steps`; `scores` are those of all validations so far."""
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
  """How often more than `patience` scores in a row were not above all before them."""
  count, waiting, best = 0, 0, -math.inf
  for score in scores:
    waiting = 0 if score > best else waiting + 1
    best = max(best, score)
    if waiting > patience:
      count, waiting = count + 1, 0
  return count
