"""The arrays of SCAN's `precomp` folders, memory-mapped.

    {split}_ims.npy                         [N, R, D] features (SCAN, BFAN, SGRAF, PFAN)
    {split}_boxes.npy                       [N, R, 30] blocks (PFAN) or [N, R, 4] boxes
    {split}_ims_bbx.npy, _ims_size.npy      [N, R, 4] boxes in pixels, sizes (GSMN)
    {split}_ims.h5 `feats`, {split}_ims_box.h5 `boxes`       the same in HDF5 (POS-SCAN)
    {split}_ids.txt or {split}_files.json   pictures of the rows; optional

SCAN: Lee et al., ECCV 2018, arXiv:1803.08024. Departure: GSMN's loader divides x by the
height and y by the width; here boxes stay in pixels and x belongs to the width.
"""

import functools
import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from gcap_tf import errors, files, optional
from gcap_tf.data import records, source_files
from gcap_tf.data.stores import numpy_objects, region_store

if TYPE_CHECKING:
  import h5py

_FEATURES = re.compile(r"(?P<split>.+)_ims\.(npy|h5)")
_BLOCK_COLUMNS = 30
# Normalised boxes may overshoot by a rounding error; boxes in pixels are far larger.
_LARGEST_NORMALISED = 1.001


class PrecompArrays:
  """Features and boxes of one split, row by row.

  Attributes:
    folder: where the files are.
    split: as in the file names, such as "dev".
  """

  def __init__(self, folder: files.PathLike, split: str):
    self.folder = pathlib.Path(folder)
    self.split = split
    self._opened: dict[str, Any] = {}
    self._process = os.getpid()

  def __getstate__(self) -> dict[str, Any]:
    return {"folder": self.folder, "split": self.split, "_opened": {}, "_process": 0}

  def __len__(self) -> int:
    return len(self.features)

  @property
  def features(self) -> np.ndarray:
    """[N, R, D], read from disk when it is sliced; [N, D] arrays become [N, 1, D] rows."""
    return self._array("_ims", "feats", ranks=(2, 3))

  @property
  def features_file(self) -> pathlib.Path:
    return self._path("_ims") or self.folder / f"{self.split}_ims.npy"

  @property
  def blocks(self) -> np.ndarray | None:
    """[N, R, 30] PFAN position blocks, or None; see `box_geometry.pfan_blocks`."""
    boxes = self._optional("_boxes")
    return boxes if boxes is not None and boxes.shape[-1] == _BLOCK_COLUMNS else None

  @property
  def boxes(self) -> np.ndarray | None:
    """[N, R, 4] as on disk: pixels, or from 0 to 1 (`normalised`); None if there are none."""
    for ending in ("_ims_bbx", "_ims_box", "_boxes"):
      boxes = self._optional(ending)
      if boxes is not None and boxes.shape[-1] == 4:
        return boxes
    return None

  @functools.cached_property
  def normalised(self) -> bool:
    """Whether boxes run from 0 to 1."""
    boxes = self.boxes
    return boxes is not None and bool(np.max(boxes[...], initial=0) <= _LARGEST_NORMALISED)

  @functools.cached_property
  def sizes(self) -> np.ndarray | None:
    """[N, 2] int width, height of the frame of the boxes; None if unknown.

    Boxes from 0 to 1 lie in a picture of 1 x 1.
    """
    path = self.folder / f"{self.split}_ims_size.npy"
    if self.normalised:
      return np.ones((len(self), 2), int)
    return self._same_length(_read_sizes(path), path) if path.is_file() else None

  @functools.cached_property
  def row_ids(self) -> list[str] | None:
    """The picture of each row; None if no file lists them."""
    lists = self.folder / f"{self.split}_ids.txt", self.folder / f"{self.split}_files.json"
    path = next((path for path in lists if path.is_file()), None)
    if path is None:
      return None
    ids = source_files.read_ids(path) if path.suffix == ".txt" else _read_file_list(path)
    if len(ids) % len(self):
      raise errors.UserError(
        f"{path} has {len(ids):,} ids, but {self.features_file.name} {len(self):,} rows; "
        "expected one id per row, or one per caption"
      )
    return ids[:: len(ids) // len(self)]

  def regions(self, row: int) -> records.Regions:
    boxes, blocks = self.boxes, self.blocks
    features = self.features[row]
    return records.Regions(
      boxes_px=None if boxes is None else region_store.float_rows(boxes[row]),
      features=region_store.float_rows(features.reshape(-1, features.shape[-1])),
      position_blocks=None if blocks is None else region_store.float_rows(blocks[row]),
    )

  def size(self, row: int) -> tuple[int, int]:
    if self.sizes is None:
      return 0, 0
    width, height = self.sizes[row].tolist()
    return width, height

  def _optional(self, ending: str) -> np.ndarray | None:
    return self._array(ending, "boxes", ranks=(3,)) if self._path(ending) else None

  def _path(self, ending: str) -> pathlib.Path | None:
    paths = (self.folder / f"{self.split}{ending}{suffix}" for suffix in (".npy", ".h5"))
    return next((path for path in paths if path.is_file()), None)

  def _array(self, ending: str, key: str, ranks: tuple[int, ...]) -> Any:
    """The memory map or HDF5 dataset; opened once a process."""
    if self._process != os.getpid():
      self._opened, self._process = {}, os.getpid()
    if ending not in self._opened:
      path = self._path(ending)
      if path is None:
        raise errors.UserError(
          f"features {self.folder / self.split}_ims.npy do not exist, nor does the .h5 file"
        )
      array = (
        open_dataset(path, key)
        if path.suffix == ".h5"
        else region_store.load_array(path, "array", mapped=True)
      )
      if array.ndim not in ranks or array.dtype.kind not in "fiu":
        raise errors.UserError(
          f"{path} has shape {list(array.shape)} of {array.dtype}; expected [pictures, regions, "
          "size] of numbers"
        )
      self._opened[ending] = array if ending == "_ims" else self._same_length(array, path)
    return self._opened[ending]

  def _same_length(self, array: Any, path: pathlib.Path) -> Any:
    if len(array) != len(self):
      raise errors.UserError(
        f"{path} has {len(array):,} rows, but {self.features_file.name} {len(self):,}; "
        "expected one per picture: write it again"
      )
    return array


def split_names(path: pathlib.Path) -> list[str]:
  """Names of the splits whose features `path` holds or is, training first."""
  found = path.iterdir() if path.is_dir() else [path]
  names = {match["split"] for file in found if (match := _FEATURES.fullmatch(file.name))}
  order = {"train": 0, "dev": 1, "val": 1, "test": 2}
  return sorted(names, key=lambda name: (order.get(name, 3), name))


def open_dataset(path: pathlib.Path, key: str) -> "h5py.Dataset":
  """A dataset of an HDF5 file; stays on disk."""
  h5py = optional.require("h5py", "train")
  try:
    file = h5py.File(path, "r")
    keys, found = list(file), file.get(key)
    is_array = isinstance(found, h5py.Dataset) and found.dtype.kind in "fiu"
  except Exception as error:  # HDF5 raises whatever a damaged header makes of its parser.
    raise errors.UserError(f"{path} is not a whole HDF5 file ({error}); write it again") from None
  if not is_array:
    raise errors.UserError(
      f"{path}: keys {', '.join(map(str, keys)) or 'none'}; expected {key!r} of numbers"
    )
  return found


def _read_sizes(path: pathlib.Path) -> np.ndarray:
  """[N, 2] from rows of numbers or of dictionaries with image_w and image_h."""
  rows = numpy_objects.load(path, "picture sizes")
  try:
    if rows.dtype == object:
      rows = np.array([[row["image_w"], row["image_h"]] for row in rows.ravel()])
    sizes = rows.astype(int)
  except (KeyError, TypeError, ValueError, IndexError, OverflowError):
    sizes = np.zeros(0)
  if sizes.ndim != 2 or sizes.shape[1] != 2 or (sizes < 1).any():
    raise errors.UserError(
      f"{path}: expected [pictures, 2] widths and heights in pixels, or dictionaries with "
      "image_w and image_h"
    )
  return sizes


def _read_file_list(path: pathlib.Path) -> list[str]:
  names = files.read_json(path, "list of files")
  if not isinstance(names, list) or not all(isinstance(name, (str, int)) for name in names):
    raise errors.UserError(f"{path}: expected a list of picture files or ids")
  return [pathlib.PurePath(str(name)).stem for name in names]
