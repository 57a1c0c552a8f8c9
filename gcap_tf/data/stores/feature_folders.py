"""Region features in folders, one file per picture (self-critical.pytorch's layout).

    att/ID.npz, key `feat` or `z`, or att/ID.npy    [R, D] or [height, width, D] features
    box/ID.npy                                      [R, 4 or more], pixels; optional
    fc/ID.npy                                       [G] feature of the whole picture; optional

`trainers.extract_regions` writes more into att/ID.npz, all of it optional:

    labels, colours   [R] words     scores  [R]     grid  [C, M] features of cells, row by row
    size              [2] width and height of the picture

and `store.json`, which says how the regions were made (see `extracted_store.StoreInfo`).

Folders may have a common prefix (`cocobu_att`, `cocobu_box`, `cocobu_fc`) and the suffix
`_gvd` of POS-SCAN's 100-region set.
"""

import functools
import os
import pathlib
import re
import zipfile
import zlib
from collections.abc import Sequence

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.stores import extracted_store, region_store

_FOLDER = re.compile(r"(?P<prefix>.*_)?(?P<role>att|box|fc)(?P<suffix>_gvd)?")
_KEYS = ("feat", "z")
_SUMS = ("box_crc32", "fc_crc32")
_MORE_KEYS = ("labels", "colours", "scores", "grid", "size", *_SUMS)
_ENDINGS = (".npz", ".npy")
_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, KeyError)


class FolderStore(region_store.RegionStore):
  """A set of `att`, `box` and `fc` folders."""

  def __init__(self, path: files.PathLike):
    """Finds the folders.

    Args:
      path: the folder that holds them, or the `att` folder itself if it holds several sets.
    """
    super().__init__(path)
    self.att = att_folder(self.path)
    if self.att is None:
      raise errors.UserError(f"{path}: no folder att or *_att there")
    self.box, self.fc = (_sibling(self.att, role) for role in ("box", "fc"))
    self._listed: list[str] | None = None
    self._last: tuple[str, dict[str, np.ndarray]] = ("", {})

  def ids(self) -> Sequence[str]:
    if self._listed is None:
      with os.scandir(self.att) as entries:
        self._listed = sorted(
          {entry.name[:-4] for entry in entries if entry.name.endswith(_ENDINGS)}
        )
    return self._listed

  def __contains__(self, image_id: str) -> bool:
    return self._att_file(image_id) is not None

  def where(self, image_id: str) -> str:
    return str(self._att_file(image_id))

  def size(self, image_id: str) -> tuple[int, int]:
    if not self.extracted:
      return 0, 0
    width, height = self._arrays(image_id).get("size", (0, 0))
    return int(width), int(height)

  @functools.cached_property
  def extracted(self) -> bool:
    """Whether `trainers.extract_regions` made the store."""
    return (self.att.parent / extracted_store.INFO).is_file()

  @functools.cached_property
  def info(self) -> extracted_store.StoreInfo | None:
    """What `store.json` says; None if there is none."""
    return extracted_store.read_info(self.att.parent) if self.extracted else None

  def _read(self, image_id: str) -> records.Regions:
    arrays = self._arrays(image_id)
    features = arrays["feat"]
    if features.ndim == 3:
      features = features.reshape(-1, features.shape[-1])
    scores, grid = arrays.get("scores"), arrays.get("grid")
    return records.Regions(
      boxes_px=self._boxes(image_id),
      features=region_store.float_rows(features),
      labels=tuple(map(str, arrays.get("labels", ()))),
      scores=None if scores is None else region_store.float_rows(scores),
      global_feature=self._global_feature(image_id),
      grid_features=None if grid is None else region_store.float_rows(grid),
      colours=tuple(map(str, arrays.get("colours", ()))),
    )

  def _arrays(self, image_id: str) -> dict[str, np.ndarray]:
    """The arrays of a picture; those read last are kept, since size and regions share a file."""
    if self._last[0] != image_id:
      path = self._att_file(image_id)
      arrays = _load(path, strict=self.extracted)
      if not self.extracted and any(key in arrays for key in _SUMS):
        raise errors.UserError(
          f"{self.att.parent / extracted_store.INFO} is missing, but {path} is of such a store; "
          "extract the regions again"
        )
      self._last = (image_id, arrays)
    return self._last[1]

  def _att_file(self, image_id: str) -> pathlib.Path | None:
    paths = (self.att / f"{image_id}{ending}" for ending in _ENDINGS)
    return next((path for path in paths if path.is_file()), None)

  def _boxes(self, image_id: str) -> np.ndarray | None:
    if self.box is None:
      return None
    path = self.box / f"{image_id}.npy"
    boxes = region_store.load_array(path, "boxes")
    self._check_sum(image_id, "box", boxes, path)
    if boxes.ndim != 2 or boxes.shape[1] < 4:
      raise errors.UserError(
        f"boxes {path} have shape {list(boxes.shape)}; expected [regions, 4]: x1, y1, x2, y2"
      )
    return region_store.float_rows(boxes[:, :4])

  def _global_feature(self, image_id: str) -> np.ndarray | None:
    if self.fc is None:
      return None
    path = self.fc / f"{image_id}.npy"
    feature = region_store.load_array(path, "feature of the picture")
    self._check_sum(image_id, "fc", feature, path)
    return region_store.float_rows(feature.reshape(-1))

  def _check_sum(self, image_id: str, role: str, array: np.ndarray, path: pathlib.Path) -> None:
    """Compares an array with the checksum that an extracted store keeps of it."""
    expected = self._arrays(image_id).get(f"{role}_crc32")
    if expected is None:  # A store of another program, or of an earlier version.
      return
    if array.dtype.kind != "f" or extracted_store.checksum(array) != int(expected):
      raise errors.UserError(
        f"{path} is damaged: it does not match its checksum; extract the picture again"
      )


def att_folder(path: pathlib.Path) -> pathlib.Path | None:
  """The one `att` folder that `path` is or holds; None if it has none."""
  if not path.is_dir():
    return None
  if _role(path) == "att":
    return path
  found = sorted(folder for folder in path.iterdir() if folder.is_dir() and _role(folder) == "att")
  if len(found) > 1:
    raise errors.UserError(
      f"{path}: several sets of features ({', '.join(folder.name for folder in found)}); "
      "give the folder of one"
    )
  return found[0] if found else None


def _role(folder: pathlib.Path) -> str | None:
  match = _FOLDER.fullmatch(folder.name)
  return match["role"] if match else None


def _sibling(att: pathlib.Path, role: str) -> pathlib.Path | None:
  match = _FOLDER.fullmatch(att.name)
  names = (f"{match['prefix'] or ''}{role}{suffix}" for suffix in (match["suffix"] or "", ""))
  return next((att.with_name(name) for name in names if att.with_name(name).is_dir()), None)


def _load(path: pathlib.Path, strict: bool = False) -> dict[str, np.ndarray]:
  """The arrays of a picture; its features are under "feat".

  `strict` refuses arrays of other names, which files of other programs may have.
  """
  if path.suffix == ".npy":
    return {"feat": region_store.load_array(path, "features")}
  try:
    with np.load(path, allow_pickle=False) as stored:
      arrays = {key: stored[key] for key in stored.files if key in (*_KEYS, *_MORE_KEYS)}
      if strict and len(arrays) < len(stored.files):
        unknown = min(set(stored.files) - arrays.keys())
        raise errors.UserError(f"features {path} are damaged: unknown {unknown!r}; extract again")
      named = [key for key in _KEYS if key in arrays]
      if not named:
        raise errors.UserError(
          f"features {path}: keys {', '.join(stored.files) or 'none'}; "
          f"expected {' or '.join(_KEYS)}"
        )
      return {**arrays, "feat": arrays[named[0]]}
  except (ValueError, EOFError, OSError, *_DAMAGED, *region_store.DAMAGED_HEADER) as error:
    raise errors.UserError(
      f"features {path}: not a whole .npz file ({error}); write it again"
    ) from None
