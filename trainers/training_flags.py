"""Flags that every training command has: devices and precision, and `--set`.

config = training_flags.apply(config, _RATE.value, epochs=_EPOCHS.value)
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
from gcap_tf import optional, printing, registry

C = TypeVar("C")

_SET = flags.DEFINE_multi_string(
  "set", [], "Any option, as key.path=value; --set=help lists them all. May be repeated."
)
_REPLICAS = flags.DEFINE_integer(
  "replicas", 0, "Devices that share each batch; 0: every GPU, or one CPU.", 0
)
_ACCUMULATE = flags.DEFINE_integer(
  "accumulate", 1, "Parts that a batch is computed in before its update, to save memory.", 1
)
_MIXED = flags.DEFINE_boolean(
  "mixed_precision", False, "float16 (GPU) or bfloat16 (CPU) products; refused if they fail."
)
_XLA = flags.DEFINE_boolean("xla", False, "Compiles with XLA; on a CPU seldom faster.")
_DETERMINISTIC = flags.DEFINE_boolean(
  "deterministic", False, "The same bits from the same seed, also with several threads."
)
_PROFILE = flags.DEFINE_boolean("profile", False, "Traces a few steps into RUN/tensorboard.")
_ON_NAN = flags.DEFINE_enum(
  "on_nan", "stop", ["stop", "skip"], "What a loss that is not finite does: stop, or skip the step."
)
_OVERRIDE = flags.DEFINE_boolean(
  "override", False, "Continues a run with other settings than it was begun with."
)
# Sizes of a model that follow from data and vocabulary.
_FROM_DATA = {
  *(
    "vocabulary_size",
    "feature_size",
    "global_size",
    "num_labels",
    "label_words",
    "label_columns",
    "regions",
  ),
  *("grid_size", "num_classes", "global_is_mean"),
}


def apply(
  config: C,
  learning_rate: float | None = None,
  models: registry.Registry | None = None,
  **given: Any,
) -> C:
  """`config` with the flags of the command, these flags, then `--set`.

  A value out of its range is a `UserError`. `--set=help` lists all options and ends the
  program.

  Args:
    config: of a training method.
    learning_rate: of the schedule; None leaves it.
    models: registry of `config.model`, if the method trains a model with `config.options`.
    given: fields of `config` by name; None leaves one as it is.
  """
  for package in ("pycocoevalcap", "spacy"):
    optional.require(package, "train")
  changes = {name: value for name, value in given.items() if value is not None}
  if learning_rate is not None:
    changes["schedule"] = dataclasses.replace(config.schedule, learning_rate=learning_rate)
  changes["compute"] = type(config.compute)(
    replicas=_REPLICAS.value,
    accumulate=_ACCUMULATE.value,
    mixed_precision=_MIXED.value,
    xla=_XLA.value,
    deterministic=_DETERMINISTIC.value,
    profile=_PROFILE.value,
    on_nan=_ON_NAN.value,
  )
  config = dataclasses.replace(config, **changes)
  assignments = [text for text in _SET.value if text != "help"]
  config = configs.override(config, assignments)
  model_options = _model_options(config, models) if models else None
  if len(assignments) < len(_SET.value):
    print(list_options(config, model_options))
    sys.exit(0)
  return config


def _model_options(config: Any, models: registry.Registry) -> Any:
  """The options of the model that will be trained, checked; sizes of the data are not real."""
  cls = models.get(config.model).Config
  return configs.from_dict(cls, {"vocabulary_size": 2, **config.options}, "options")


def list_options(config: Any, model_options: Any = None) -> str:
  """Every key of `--set`: type, range, default and meaning."""
  rows = [row for row in configs.describe(config) if row[0] != "options"]
  if model_options is not None:
    found = configs.describe(model_options, "options.")
    rows += [row for row in found if row[0].removeprefix("options.") not in _FROM_DATA]
  return configs.table(rows)


def train(config: Any, train_one: Callable[..., dict[str, float]], data: str, run: str) -> None:
  """Trains into the run folder; prints the configuration first, the figures as JSON last.

  Args:
    config: of a training method.
    train_one: that method's `train`: (data, configuration, folder) -> figures.
    data: prepared folder.
    run: run folder.
  """
  from gcap_tf.data.prepared import prepared_data

  print(json.dumps(configs.to_dict(config), indent=2))
  with started(config):
    figures = train_one(prepared_data.PreparedData(data), config, run, override=override())
  print(json.dumps(printing.significant(figures)))


def override() -> bool:
  """Whether a run may be continued with other settings."""
  return _OVERRIDE.value


def started(config: Any) -> contextlib.AbstractContextManager:
  """Sets TensorFlow up for `config.compute`; models are made inside the context.

  Starts the program again if TensorFlow needs a variable in its environment at import.
  """
  from gcap_tf.training import computing

  missing = computing.missing_environment(config.compute)
  if missing:
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | missing)
  return computing.start(config.compute).scope()
