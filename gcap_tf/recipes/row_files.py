"""One small file for each finished run of a table, so that another machine can go on with it.

    DIR/PAPER/ROW.SEED.json.gz
      settings    of the run and of the runs that it needs, with row names for folders
      data        fingerprint and description of the prepared folder (data/prepared/contents.py)
      figures     as in result.json; minutes, commands
      statistics  what each picture adds to the figures of the table's columns, for the intervals of
                  claims; each points to `arrays`, in which an array that several use is once

An array is its shape and its values in order, or, if most are 0, the distances between the
others ("gaps") and these.
"""

import dataclasses
import gzip
import json
import pathlib
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.recipes import experiments

FORMAT = "gcap_tf row 1"
_ENDING = ".json.gz"
_DAMAGE = (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, AttributeError)


@dataclasses.dataclass(frozen=True)
class Finished:
  """A finished run.

  Attributes:
    settings: see `settings_of`.
    data: fingerprint of the prepared folder.
    about: other entries that are shown to people: data in words, commands.
    figures, minutes: as in result.json.
    statistics: of its pictures, by figure.
  """

  settings: Mapping[str, Any]
  data: str
  figures: Mapping[str, Any]
  minutes: float
  statistics: Mapping[str, resampling.Statistic]
  about: Mapping[str, Any] = dataclasses.field(default_factory=dict)

  @property
  def result(self) -> dict[str, Any]:
    """What a table needs."""
    return {"figures": dict(self.figures), "minutes": self.minutes}


def path_of(folder: files.PathLike, paper: str, row: str, seed: int) -> pathlib.Path:
  return pathlib.Path(folder) / paper / f"{row}.{seed}{_ENDING}"


def settings_of(
  table: experiments.Table, row: experiments.Row, seed: int, evaluation: Mapping[str, Any]
) -> dict[str, Any]:
  """What decides the result of a run: its configuration, those that it needs, the evaluation."""
  rows = {needed.name: needed for needed in experiments.in_order(table, [row.name])}
  return {
    "rows": {
      name: configs.to_dict(dataclasses.replace(needed.training, seed=seed))
      for name, needed in rows.items()
    },
    **evaluation,
  }


def difference(table: experiments.Table, kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
  """The first setting in which a file differs from what is wanted; "" if none does.

  Options that came after the file have their defaults in it.
  """
  for name, training in wanted["rows"].items():
    kind, before = type(table.row(name).training), kept["rows"].get(name)
    if before is None:
      return f"it did not need {name}"
    try:
      found = experiments.differences(
        configs.from_dict(kind, before), configs.from_dict(kind, training)
      )
    except (errors.UserError, TypeError) as error:
      return f"its {name} has other options ({error})"
    for option, (there, here) in found.items():
      return f"its {name} has {option} {there}, here {here}"
  for key, value in wanted.items():
    if key != "rows" and kept.get(key) != value:
      return f"its {key} is {kept.get(key)}, here {value}"
  return ""


def write(path: files.PathLike, finished: Finished) -> None:
  """Writes a file; equal runs make equal bytes."""
  arrays: list[dict[str, Any]] = []
  statistics = {
    figure: {
      "kind": found.kind,
      "arrays": {name: _place(_encoded(array), arrays) for name, array in found.arrays.items()},
    }
    for figure, found in finished.statistics.items()
  }
  content = {
    "format": FORMAT,
    **finished.about,
    "data": finished.data,
    "minutes": finished.minutes,
    "settings": finished.settings,
    "figures": finished.figures,
    "statistics": statistics,
    "arrays": arrays,
  }
  text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
  with files.atomic_path(path) as partial:
    partial.write_bytes(gzip.compress(text.encode(), mtime=0))


def read(path: files.PathLike) -> Finished:
  """Reads what `write` wrote; a damaged file is a `UserError`."""
  try:
    content = json.loads(gzip.decompress(pathlib.Path(path).read_bytes()))
    if content["format"] != FORMAT:
      raise ValueError(f'its format is {content["format"]}, not "{FORMAT}"')
    arrays = [_decoded(each) for each in content.pop("arrays")]
    statistics = {
      figure: resampling.Statistic(
        found["kind"], {name: arrays[place] for name, place in found["arrays"].items()}
      )
      for figure, found in content.pop("statistics").items()
    }
    own = {name: content.pop(name) for name in ("settings", "data", "figures", "minutes")}
  except _DAMAGE as error:
    raise errors.UserError(f"row file {path} is damaged ({error}); remove it") from None
  return Finished(**own, statistics=statistics, about=content)


def _place(array: dict[str, Any], arrays: list[dict[str, Any]]) -> int:
  """Where an array is among those of a file; appended if it is new."""
  if array not in arrays:
    arrays.append(array)
  return arrays.index(array)


def _encoded(array: np.ndarray) -> dict[str, Any]:
  array = resampling.rounded(array)
  flat = array.ravel()
  places = np.flatnonzero(flat)
  found = {"shape": list(array.shape), "type": str(array.dtype)}
  if 2 * len(places) < flat.size:
    return found | {"gaps": np.diff(places, prepend=0).tolist(), "values": flat[places].tolist()}
  return found | {"values": flat.tolist()}


def _decoded(found: Mapping[str, Any]) -> np.ndarray:
  values = np.array(found["values"], found["type"])
  if "gaps" in found:
    flat = np.zeros(int(np.prod(found["shape"])), found["type"])
    flat[np.cumsum(np.array(found["gaps"], np.int64))] = values
    values = flat
  return values.reshape(found["shape"])
