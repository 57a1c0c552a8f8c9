"""What `trainers.extract_regions` writes: folders with labels, scores, grid and `store.json`.

`feature_folders` reads it, and so does any reader of `att`, `box` and `fc` folders.
"""

import dataclasses
import pathlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data import records

INFO = "store.json"


@dataclasses.dataclass(frozen=True)
class StoreInfo:
  """How the regions of a store were made.

  Attributes:
    detector: as the user named it, or several for cross-fitting.
    regions: most regions of a picture.
    min_score: regions that are scored lower were left out.
    feature_size, global_size, grid_size, grid_cells: D, G, M, C.
    columns: part of a feature -> [first column, one past the last].
    labels, colours: words of the columns "labels" and "colours".
    fingerprint: of the weights, and of the options that choose regions.
  """

  detector: str
  regions: int
  min_score: float
  feature_size: int
  global_size: int
  grid_size: int
  grid_cells: int
  columns: Mapping[str, Sequence[int]]
  labels: Sequence[str]
  colours: Sequence[str]
  fingerprint: str

  def recipe(self, max_regions: int = 0) -> dict[str, Any]:
    """What a model that learns from these regions must know to see a new photograph alike.

    Args:
      max_regions: the first so many of them are used; 0 is all.
    """
    kept = ("detector", "regions", "min_score", "fingerprint", "columns", "labels", "colours")
    found = {name: getattr(self, name) for name in kept}
    return found | {"regions": min(self.regions, max_regions or self.regions)}


def read_info(folder: pathlib.Path) -> StoreInfo:
  """What the `store.json` of a folder says."""
  path = folder / INFO
  values: dict[str, Any] = files.read_sealed_json(path, "description of a region store")
  try:
    return StoreInfo(**values)
  except TypeError:
    raise errors.UserError(f"{path} does not describe a region store; extract it again") from None


def write_info(folder: pathlib.Path, info: StoreInfo) -> None:
  files.write_sealed_json(folder / INFO, dataclasses.asdict(info))


def write_picture(
  folder: pathlib.Path, image_id: str, regions: records.Regions, size: tuple[int, int]
) -> None:
  """Writes the regions of a picture; its file in `att` comes last, so that it means "whole".

  Features and grid are kept as float16: they are standardised, and half as large. The file in
  `att`, whose archive has checksums, keeps those of the other two.
  """
  if pathlib.PurePath(image_id).name != image_id or image_id in ("", ".", ".."):
    raise errors.UserError(f"picture id {image_id!r} is not the name of a file; rename the picture")
  sums = {}
  for role, rows in (("box", regions.boxes_px), ("fc", regions.global_feature)):
    if rows is not None:
      values = rows.astype(np.float32)
      sums[role] = checksum(values)
      _write(folder / role / f"{image_id}.npy", lambda file, values=values: np.save(file, values))
  arrays = {
    "feat": regions.features.astype(np.float16),
    "labels": np.array(regions.labels, np.str_),
    "colours": np.array(regions.colours, np.str_),
    "size": np.array(size, np.int32),
    **{f"{role}_crc32": np.array(value, np.uint32) for role, value in sums.items()},
  }
  if regions.scores is not None:
    arrays["scores"] = regions.scores.astype(np.float32)
  if regions.grid_features is not None:
    arrays["grid"] = regions.grid_features.astype(np.float16)
  _write(folder / "att" / f"{image_id}.npz", lambda file: np.savez(file, **arrays))


def checksum(array: np.ndarray) -> int:
  """Of the values of an array, wherever and however it is kept."""
  return zlib.crc32(np.ascontiguousarray(array, np.float32).tobytes())


def _write(path: pathlib.Path, save: Callable[[BinaryIO], None]) -> None:
  # NumPy adds an ending to names that lack it, so it is given a file.
  with files.atomic_path(path) as partial, open(partial, "wb") as file:
    save(file)
