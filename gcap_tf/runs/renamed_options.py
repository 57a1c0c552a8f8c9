"""Options that had other names in earlier versions, or did not exist.

The configuration of an earlier version is read through `current` and `current_run`.
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
  if isinstance(values.get("model_config"), dict):
    values["model_config"] = current_model(values["model_config"])
  if isinstance(values.get("training"), dict):
    values["training"] = current(values["training"])
  if "earlier_stages" in values:
    values["earlier_stages"] = [current_run(stage) for stage in values["earlier_stages"]]
  return values


def current_model(options: Mapping[str, Any]) -> dict[str, Any]:
  """A model's options with those that earlier versions did not record.

  A global feature of the size of a region's feature meant the mean of the regions.
  """
  if "global_size" not in options:  # A matcher.
    return dict(options)
  is_mean = 0 < options["global_size"] == options.get("feature_size")
  return {"global_is_mean": is_mean, **options}
