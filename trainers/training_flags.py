"""Flags that every training program has: on what and how it computes.

config = training_flags.apply(config)         # fills config.compute from the flags
with training_flags.started(config):          # the strategy's scope
  figures = matcher_training.train(...)
"""

import contextlib
import dataclasses
import os
import sys
from typing import Any, TypeVar

from absl import flags

from gcap_tf.training import computing

C = TypeVar("C")

_REPLICAS = flags.DEFINE_integer(
  "replicas",
  0,
  "Devices that share each batch; 0: every GPU, or one CPU.",
  0,
)
_ACCUMULATE = flags.DEFINE_integer(
  "accumulate", 1, "Parts that a batch is computed in before its update, to save memory.", 1
)
_MIXED = flags.DEFINE_boolean(
  "mixed_precision", False, "float16 (GPU) or bfloat16 (CPU) products; refused where they fail."
)
_XLA = flags.DEFINE_boolean("xla", False, "Compile with XLA; on a CPU seldom faster.")
_DETERMINISTIC = flags.DEFINE_boolean(
  "deterministic", False, "The same bits from the same seed, also where threads race."
)
_PROFILE = flags.DEFINE_boolean("profile", False, "Trace a few steps into RUN/tensorboard.")
_ON_NAN = flags.DEFINE_enum(
  "on_nan", "stop", ["stop", "skip"], "At a loss that is not finite: stop, or pass over the step."
)


def apply(config: C) -> C:
  """`config` with its `compute` as the flags say."""
  chosen = computing.ComputeConfig(
    replicas=_REPLICAS.value,
    accumulate=_ACCUMULATE.value,
    mixed_precision=_MIXED.value,
    xla=_XLA.value,
    deterministic=_DETERMINISTIC.value,
    profile=_PROFILE.value,
    on_nan=_ON_NAN.value,
  )
  return dataclasses.replace(config, compute=chosen)


def started(config: Any) -> contextlib.AbstractContextManager:
  """Sets TensorFlow up for `config.compute`; models are made inside the context.

  Begins the program anew where TensorFlow must find a variable when it is loaded.
  """
  missing = computing.missing_environment(config.compute)
  if missing:
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | missing)
  return computing.start(config.compute).scope()
