"""config.json of a run folder: what every reader of runs checks first."""

import pathlib
from collections.abc import Sequence
from typing import Any

from gcap_tf import errors, files


def read(folder: pathlib.Path, required: Sequence[str] = ("kind", "model")) -> dict[str, Any]:
  """The configuration as it was written; a `UserError` if a required key is missing."""
  path = folder / "config.json"
  if not path.exists():
    raise errors.UserError(f"{folder} is not a run folder: it has no config.json")
  config = files.read_sealed_json(path, "run configuration")
  if not isinstance(config, dict):
    raise errors.UserError(f"{path} describes no run: it is not an object")
  for key in required:
    if key not in config:
      raise errors.UserError(f'{path} describes no run: it has no "{key}"')
  return config
