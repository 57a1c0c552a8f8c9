"""Flags that every training program has: on what and how it computes.

config = training_flags.apply(config, _SET.value, epochs=_EPOCHS.value)
training_flags.train(config, self_critical.train, _DATA.value, _RUN.value)
"""

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from absl import flags

from gcap_tf import config as configs
from gcap_tf.data.prepared import prepared_data
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


def apply(config: C, assignments: list[str], learning_rate: float | None = None, **given: Any) -> C:
  """`config` with what the flags say: those of the program, these, then `--set`.

  Args:
    config: of a training module.
    assignments: of `--set`, as key.path=value.
    learning_rate: of the schedule; None (or 0) leaves it.
    given: fields of `config` by name; None leaves one as it is.
  """
  changes = {name: value for name, value in given.items() if value is not None}
  if learning_rate:
    changes["schedule"] = dataclasses.replace(config.schedule, learning_rate=learning_rate)
  changes["compute"] = computing.ComputeConfig(
    replicas=_REPLICAS.value,
    accumulate=_ACCUMULATE.value,
    mixed_precision=_MIXED.value,
    xla=_XLA.value,
    deterministic=_DETERMINISTIC.value,
    profile=_PROFILE.value,
    on_nan=_ON_NAN.value,
  )
  return configs.override(dataclasses.replace(config, **changes), assignments)


def train(config: Any, train_one: Callable[..., dict[str, float]], data: str, run: str) -> None:
  """Trains into the run folder; prints the configuration first, the figures as JSON last.

  Args:
    config: of a training module.
    train_one: that module's `train`: (data, configuration, folder) -> figures.
    data: prepared folder.
    run: run folder.
  """
  print(json.dumps(configs.to_dict(config), indent=2))
  with started(config):
    figures = train_one(prepared_data.PreparedData(data), config, run)
  print(json.dumps(figures))


def started(config: Any) -> contextlib.AbstractContextManager:
  """Sets TensorFlow up for `config.compute`; models are made inside the context.

  Begins the program anew where TensorFlow must find a variable when it is loaded.
  """
  missing = computing.missing_environment(config.compute)
  if missing:
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | missing)
  return computing.start(config.compute).scope()
