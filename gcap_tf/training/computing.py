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

_XLA_ON_CPU = "--tf_xla_cpu_global_jit"


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
    tf.config.optimizer.set_jit("autoclustering")
  return strategy


def missing_environment(config: ComputeConfig) -> dict[str, str]:
  """Variables that TensorFlow should have found when it was loaded, and did not.

  On a CPU, XLA takes part only where TF_XLA_FLAGS says so from the beginning.
  """
  given = os.environ.get("TF_XLA_FLAGS", "")
  if not config.xla or _XLA_ON_CPU in given or tf.config.list_physical_devices("GPU"):
    return {}
  return {"TF_XLA_FLAGS": f"{given} --tf_xla_auto_jit=2 {_XLA_ON_CPU}".strip()}
