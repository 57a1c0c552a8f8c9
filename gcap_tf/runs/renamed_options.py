"""Options of training that had other names in earlier versions.

A configuration that was written with the old names is read through `current`.
"""

import copy
from collections.abc import Mapping
from typing import Any

# Old path -> new path, inside the options of a training run.
RENAMED = {
  "losses.sampling": "losses.scheduled_sampling",
  "sampling": "sampled_captions",
  "warm_up_epochs": "first_stage_epochs",
  "warm_up_steps": "first_stage_steps",
  "warm_up_weights": "first_stage_weights",
}


def current(training: Mapping[str, Any]) -> dict[str, Any]:
  """The options of a training run under their current names."""
  values = copy.deepcopy(dict(training))
  for old, new in RENAMED.items():
    *group, old_name = old.split(".")
    inner: Any = values
    for name in group:
      inner = inner.get(name, {}) if isinstance(inner, dict) else {}
    if isinstance(inner, dict) and old_name in inner:
      inner.setdefault(new.rpartition(".")[2], inner.pop(old_name))
  return values


def current_run(config: Mapping[str, Any]) -> dict[str, Any]:
  """A run's config.json with the options of all its stages under their current names."""
  values = dict(config)
  if isinstance(values.get("training"), dict):
    values["training"] = current(values["training"])
  if "earlier_stages" in values:
    values["earlier_stages"] = [current_run(stage) for stage in values["earlier_stages"]]
  return values
