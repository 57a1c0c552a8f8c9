"""On what and how a run computes: devices, precision, compilation, what to do at a fault.

None of it changes what is learned, but for rounding, for which random numbers are drawn
where a batch is shared, and for `accumulate`, which seeks hard negatives in each part.
"""

import dataclasses
import os
from typing import Literal

import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import precision, strategies

_XLA_FLAGS = "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"


@dataclasses.dataclass(frozen=True)
class ComputeConfig:
  """Attributes:
  replicas: devices that share a batch; 0 takes every GPU, or one CPU.
  accumulate: parts that a batch is computed in, one after the other, before its update.
  mixed_precision: float16 (GPU) or bfloat16 (CPU) matrix products.
  xla: compile what can be compiled.
  deterministic: the same bits from the same seed, also where threads race.
  profile: trace a few steps for TensorBoard.
  on_nan: what a loss or gradient that is not finite does: stops the run, or is passed over.
  """

  replicas: int = 0
  accumulate: int = 1
  mixed_precision: bool = False
  xla: bool = False
  deterministic: bool = False
  profile: bool = False
  on_nan: Literal["stop", "skip"] = "stop"

  def __post_init__(self):
    for name, least in (("replicas", 0), ("accumulate", 1)):
      if getattr(self, name) < least:
        raise errors.UserError(f"{name} is {getattr(self, name)}; it must be at least {least}")


def start(config: ComputeConfig) -> tf.distribute.Strategy:
  """Sets TensorFlow up for this process; models are made in the scope of what it returns."""
  strategy = strategies.make(config.replicas)
  if config.mixed_precision:
    precision.enable()
  if config.deterministic:
    tf.config.experimental.enable_op_determinism()
  if config.xla:
    # On a CPU only this variable, read at the first compilation, lets XLA take part.
    os.environ["TF_XLA_FLAGS"] = f"{os.environ.get('TF_XLA_FLAGS', '')} {_XLA_FLAGS}".strip()
    tf.config.optimizer.set_jit("autoclustering")
  return strategy
