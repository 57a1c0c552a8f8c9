"""How a run computes: devices, precision, compilation, policy for faults.

None of it changes what is learned, except for rounding, for random numbers if a batch is
shared, and for `accumulate`, which looks for hard negatives in each part.
"""

import dataclasses
import os
from typing import Literal

import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.training import precision, strategies

_XLA_ON_CPU = "--tf_xla_cpu_global_jit"


@dataclasses.dataclass(frozen=True)
class ComputeConfig:
  """Devices, precision, compilation, faults.

  Attributes:
    replicas: devices that share a batch; 0 takes every GPU, or one CPU.
    accumulate: parts that a batch is computed in, one after the other, before its update.
    mixed_precision: float16 (GPU) or bfloat16 (CPU) matrix products.
    xla: compiles what XLA can compile.
    deterministic: the same bits from the same seed, even if threads race.
    profile: traces a few steps for TensorBoard.
    on_nan: whether a loss or gradient that is not finite stops the run or is skipped.
  """

  replicas: configs.Count = 0
  accumulate: configs.PositiveInt = 1
  mixed_precision: bool = False
  xla: bool = False
  deterministic: bool = False
  profile: bool = False
  on_nan: Literal["stop", "skip"] = "stop"


def start(config: ComputeConfig) -> tf.distribute.Strategy:
  """Sets TensorFlow up for this process; models are made in the scope of the result."""
  strategy = strategies.make(config.replicas)
  if config.mixed_precision:
    precision.enable()
  if config.deterministic:
    tf.config.experimental.enable_op_determinism()
  if config.xla:
    tf.config.optimizer.set_jit("autoclustering")
  return strategy


def missing_environment(config: ComputeConfig) -> dict[str, str]:
  """Environment variables that must be set before TensorFlow is loaded, and are not.

  On a CPU, XLA is used only if TF_XLA_FLAGS says so from the beginning.
  """
  given = os.environ.get("TF_XLA_FLAGS", "")
  if not config.xla or _XLA_ON_CPU in given or tf.config.list_physical_devices("GPU"):
    return {}
  return {"TF_XLA_FLAGS": f"{given} --tf_xla_auto_jit=2 {_XLA_ON_CPU}".strip()}
