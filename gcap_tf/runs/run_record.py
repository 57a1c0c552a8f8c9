"""What a run was made with, and whether a command may continue it.

RUN/config.json    the settings that hold now; `overrides` lists those that were changed on the
                   way: {"step": 1200, "changes": {"schedule.learning_rate": [0.0005, 0.001]}}
RUN/history.jsonl  every command and its whole configuration, with the step from which it held

A command is compared with config.json before anything in the folder changes. Longer training and
other devices may continue a run; any other change is refused unless it is asked for.
"""

import dataclasses
import json
import os
import pathlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import keras

from gcap_tf import errors, files
from gcap_tf.runs import checkpoints, packed_weights, renamed_options

HISTORY = "history.jsonl"
# Another value here is another run, whatever the user asks for.
_IDENTITY = ("kind", "model", "method", "vocabulary")
# Options of a training that do not change what a step learns.
_FREE = {
  *("epochs", "max_steps", "early_stop", "evaluate_every", "compute.replicas", "compute.xla"),
  *("compute.deterministic", "compute.profile", "compute.on_nan"),
}
# But for schedules whose rates depend on them.
_OF_SCHEDULE = {"cosine": {"epochs", "max_steps"}, "plateau": {"evaluate_every"}}
_ABSENT = "(none)"


@dataclasses.dataclass(frozen=True)
class Difference:
  """An option whose value is not that of the run."""

  key: str
  before: Any
  now: Any


class Record:
  """The settings of a command that trains into a run folder.

  Args:
    folder: of the run.
    values: all of config.json.
    words: all of vocabulary.json.
    defaults: default options of the training, for those that an older run did not record.
  """

  def __init__(
    self,
    folder: files.PathLike,
    values: dict[str, Any],
    words: Any,
    defaults: Mapping[str, Any] | None = None,
  ):
    self.folder = pathlib.Path(folder)
    self.values, self._words = json.loads(json.dumps([values, words]))
    self._defaults = defaults or {}
    self._changes: list[Difference] = []

  def check(self, model: keras.Model, override: bool = False) -> None:
    """Raises a `UserError` if the folder holds something that this command must not change.

    Args:
      model: what is trained; the checkpoints of the folder must fit it.
      override: accepts other settings.
    """
    _check_is_trained(self.folder)
    states = checkpoints.StepCheckpoints(self.folder / "checkpoints")
    if not states.steps() and not checkpoints.best_path(self.folder).exists():
      return
    before = self._before()
    if before is None:
      if not override:
        raise errors.UserError(
          f"{self.folder} has checkpoints, but no config.json that says what made them; choose "
          "another folder for --run, or continue with --override"
        )
    else:
      self._check_identity(before)
      self._changes = self.differences(before)
      if self._changes and not override:
        raise errors.UserError(
          f"{self.folder} was trained with other settings ({_named(self._changes)}); choose "
          "another folder for --run, give the same settings, or continue with --override",
          table(self._changes),
        )
    states.check_fits(model=model)

  def differences(self, before: Mapping[str, Any]) -> list[Difference]:
    """Settings of this command that are not those of an earlier config.json."""
    defaults = flatten(self._defaults)
    old, new = flatten(before.get("training") or {}), flatten(self.values.get("training") or {})
    free = _FREE - _OF_SCHEDULE.get(new.get("schedule.kind"), set())
    models = [values.get("model_config") or {} for values in (before, self.values)]
    found = [
      each
      for each in _compare({**defaults, **old}, new, free)
      # An option of the model that is left out has its default, which `model_config` shows.
      if not (each.key.startswith("options.") and _same_in(models, each.key.split(".", 1)[1]))
    ]
    if before.get("data_sha256", self.values.get("data_sha256")) != self.values.get("data_sha256"):
      found.append(Difference("data", _data(before), _data(self.values)))
    for key in ("dataset", "start"):
      found += _compare({key: before.get(key)}, {key: self.values.get(key)})
    if not found:  # They follow from the others, unless the program has changed.
      old, new = (flatten(values, "model_config.") for values in models)
      found = _compare(old, {key: new[key] for key in new if key in old})
    return found

  def write(self, step: int) -> None:
    """Writes config.json, vocabulary.json and the history; called when everything fits.

    Args:
      step: from which this command's settings hold.
    """
    before = self._before()
    values = dict(self.values)
    overrides = list((before or {}).get("overrides", ()))
    if step and self._changes:
      changes = {change.key: [change.before, change.now] for change in self._changes}
      overrides.append({"step": step, "changes": changes})
    if step and overrides:
      values["overrides"] = overrides
    if before is not None and _settings(before) == _settings(values):
      values["command"] = before.get("command", values.get("command"))
    history = self._history(before)
    entry = {"step": step, **self.values}
    if not history or _settings(history[-1]) != _settings(entry):
      history.append(entry)
      lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in history]
      files.write_text(self.folder / HISTORY, "".join(lines))
    files.write_json(self.folder / "vocabulary.json", self._words, None)
    files.write_sealed_json(self.folder / "config.json", values)

  def _before(self) -> dict[str, Any] | None:
    path = self.folder / "config.json"
    if not path.exists():
      return None
    values = files.read_sealed_json(path, "run configuration")
    if not isinstance(values, dict):
      raise errors.UserError(f"run configuration {path} is not a JSON object")
    return renamed_options.current_run(values)

  def _history(self, before: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    path = self.folder / HISTORY
    if path.exists():
      return read_history(self.folder)
    # A run of an earlier version: its configuration is the first line.
    return [] if before is None else [{"step": 0, **before}]

  def _check_identity(self, before: Mapping[str, Any]) -> None:
    for key in _IDENTITY:
      old, new = before.get(key), self.values.get(key)
      if old != new:
        shown = f"{key} {_short(old)}, not {_short(new)}"
        raise errors.UserError(
          f"{self.folder} holds another run ({before.get('kind')} {before.get('model')}: {shown}); "
          "choose another folder for --run"
        )
    path = self.folder / "vocabulary.json"
    if path.exists() and files.read_json(path, "vocabulary") != self._words:
      raise errors.UserError(
        f"{self.folder} was trained with other words or region labels than those of this data; "
        "choose another folder for --run"
      )


def read_history(folder: files.PathLike) -> list[dict[str, Any]]:
  """Every command of a run with its configuration, the first one first."""
  path = pathlib.Path(folder) / HISTORY
  try:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
  except (json.JSONDecodeError, UnicodeDecodeError) as error:
    raise errors.UserError(f"history {path} is damaged ({error}); move it away") from None


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
  """Nested options as {"schedule.learning_rate": 0.1}."""
  flat: dict[str, Any] = {}
  for key, value in values.items():
    if isinstance(value, Mapping):
      flat.update(flatten(value, f"{prefix}{key}."))
    else:
      flat[f"{prefix}{key}"] = value
  return flat


def table(differences: Sequence[Difference]) -> str:
  """Lines of three columns: option, the run's value, this command's value."""
  rows = [("option", "the run has", "this command has")]
  rows += [(each.key, _short(each.before), _short(each.now)) for each in differences]
  widths = [max(len(row[column]) for row in rows) for column in range(2)]
  return "\n".join(
    f"  {first:{widths[0]}}  {second:{widths[1]}}  {third}" for first, second, third in rows
  )


def _check_is_trained(folder: pathlib.Path) -> None:
  """Refuses folders with something else in them than a run that training made."""
  for name, what in (("dataset.json", "prepared data"), ("saved_model.pb", "an exported model")):
    if (folder / name).exists():
      raise errors.UserError(f"{folder} holds {what}; choose another folder for --run")
  if folder.exists() and not folder.is_dir():
    raise errors.UserError(f"{folder} is a file; choose another folder for --run")
  if packed_weights.path_of(folder).exists():
    raise errors.UserError(
      f"{folder} is a packed run, which training would overwrite; choose another folder for --run"
    )
  path = folder / "config.json"
  if path.exists() and checkpoints.best_path(folder).exists():
    config = files.read_sealed_json(path, "run configuration")
    if not isinstance(config, dict) or "training" not in config:
      raise errors.UserError(
        f"{folder} holds a model that was not trained here, which training would overwrite; choose "
        "another folder for --run"
      )


def _compare(
  before: Mapping[str, Any], now: Mapping[str, Any], free: Collection[str] = ()
) -> list[Difference]:
  found = []
  for key in dict.fromkeys((*before, *now)):
    old, new = before.get(key, _ABSENT), now.get(key, _ABSENT)
    if key not in free and not _equal(old, new):
      found.append(Difference(key, old, new))
  return found


def _same_in(configs: Sequence[Mapping[str, Any]], key: str) -> bool:
  return all(key in each for each in configs) and configs[0][key] == configs[1][key]


def _equal(old: Any, new: Any) -> bool:
  if isinstance(old, str) and isinstance(new, str) and old and new:
    return old == new or os.path.realpath(old) == os.path.realpath(new)
  return old == new


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
  """A configuration without what is different in every command."""
  own = ("step", "command", "overrides")
  return {key: value for key, value in values.items() if key not in own}


def _data(values: Mapping[str, Any]) -> str:
  return f"{values.get('data')} ({str(values.get('data_sha256'))[:8]})"


def _named(differences: Sequence[Difference]) -> str:
  names = [each.key for each in differences]
  return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _short(value: Any, most: int = 40) -> str:
  text = value if isinstance(value, str) else json.dumps(value)
  return text if len(text) <= most else f"{text[: most - 3]}..."
