"""Region proposals of Grounded Video Description for pictures (Zhou et al., CVPR 2019).

A folder holds

    *.h5             `dets_labels` [N, P, 6] x1, y1, x2, y2, class, score; `nms_num` [N]
    dic_*.json       `images`, in the order of the rows, each with its `id` or `file_path`
    a folder of ID.npy      [P, D] features of the proposals
    objects_vocab.txt       names of the detector's classes, one per line; optional

Proposals with a score of at most 0.2 are left out, as in the released loader.
"""

import functools
import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gcap_tf import errors, files, optional
from gcap_tf.data import records, source_files
from gcap_tf.data.stores import precomp_arrays, region_store

if TYPE_CHECKING:
  import h5py

LEAST_SCORE = 0.2
PROPOSALS, COUNTS = "dets_labels", "nms_num"
_COLUMNS = 6


class GVDStore(region_store.RegionStore):
  """Proposals in HDF5 with features in a folder."""

  def __init__(self, path: files.PathLike, least_score: float = LEAST_SCORE):
    """Finds the files.

    Args:
      path: the folder, or the proposals' HDF5 file in it.
      least_score: proposals must score more than this; a picture keeps its best one anyway.
    """
    super().__init__(path)
    self.proposals_file = proposals_file(self.path)
    if self.proposals_file is None:
      raise errors.UserError(f"{path}: no HDF5 file with {PROPOSALS} and {COUNTS} there")
    self.least_score = least_score
    self.folder = self.proposals_file.parent
    self.features = _feature_folder(self.folder)
    self._datasets: dict[str, h5py.Dataset] = {}
    self._process = os.getpid()

  def __getstate__(self) -> dict[str, Any]:
    return {**self.__dict__, "_datasets": {}, "_process": 0}

  def ids(self) -> Sequence[str]:
    return list(self._rows)

  def where(self, image_id: str) -> str:
    return f"{self.proposals_file}, row {self._rows[image_id]}, picture {image_id}"

  def _read(self, image_id: str) -> records.Regions:
    row = self._rows[image_id]
    proposals = self._dataset(PROPOSALS)[row, : int(self._dataset(COUNTS)[row])]  # [P, 6]
    path = self.features / f"{image_id}.npy"
    features = region_store.load_array(path, "features", mapped=True)
    features = features.reshape(-1, features.shape[-1])
    if len(features) != len(proposals):
      raise errors.UserError(
        f"features {path} have {len(features)} rows, but {self.where(image_id)} has "
        f"{len(proposals)} proposals; extract it again"
      )
    scores = proposals[:, 5]
    kept = np.flatnonzero(scores > self.least_score)
    if not len(kept) and len(scores):
      kept = np.array([np.argmax(scores)])
    return records.Regions(
      boxes_px=region_store.float_rows(proposals[kept, :4]),
      features=region_store.float_rows(features[kept]),
      labels=self._labels(proposals[kept, 4], image_id),
      scores=region_store.float_rows(scores[kept]),
    )

  def _labels(self, classes: np.ndarray, image_id: str) -> tuple[str, ...]:
    """Class 0 is background; the list of names begins with class 1."""
    if not self._class_names:
      return ()
    highest = int(np.max(classes, initial=0))
    if highest >= len(self._class_names):
      raise errors.UserError(
        f"{self.where(image_id)}: class {highest}, but objects_vocab.txt names "
        f"{len(self._class_names) - 1}; give the detector's own list"
      )
    return tuple(self._class_names[int(index)] for index in classes)

  @functools.cached_property
  def _class_names(self) -> list[str]:
    path = self.folder / "objects_vocab.txt"
    if not path.is_file():
      return []
    lines = source_files.read_lines(path, "class names")
    return ["", *(line.split(",")[0].strip() for line in lines)]

  @functools.cached_property
  def _rows(self) -> dict[str, int]:
    lists = sorted(self.folder.glob("dic_*.json"))
    if len(lists) != 1:
      raise errors.UserError(
        f"{self.folder}: {len(lists)} files dic_*.json; expected the one that lists the pictures "
        f"in the order of {self.proposals_file.name}"
      )
    images = files.read_json(lists[0], "picture list").get("images", [])
    rows = {_image_id(image, lists[0]): row for row, image in enumerate(images)}
    if len(rows) != len(self._dataset(PROPOSALS)):
      raise errors.UserError(
        f"{lists[0]} lists {len(rows):,} pictures, but {self.proposals_file.name} has "
        f"{len(self._dataset(PROPOSALS)):,} rows; the two belong to different sets"
      )
    return rows

  def _dataset(self, key: str) -> "h5py.Dataset":
    if self._process != os.getpid():
      self._datasets, self._process = {}, os.getpid()
    if key not in self._datasets:
      dataset = precomp_arrays.open_dataset(self.proposals_file, key)
      if key == PROPOSALS and (dataset.ndim != 3 or dataset.shape[2] != _COLUMNS):
        raise errors.UserError(
          f"{self.proposals_file}: {key} has shape {list(dataset.shape)}; expected [pictures, "
          f"proposals, {_COLUMNS}]: x1, y1, x2, y2, class, score"
        )
      self._datasets[key] = dataset
    return self._datasets[key]


def proposals_file(path: pathlib.Path) -> pathlib.Path | None:
  """The HDF5 file of proposals that `path` is or holds."""
  found = sorted(path.glob("*.h5")) if path.is_dir() else [path]
  return next((file for file in found if file.is_file() and _has_proposals(file)), None)


def _has_proposals(path: pathlib.Path) -> bool:
  h5py = optional.require("h5py", "train")
  if not h5py.is_hdf5(path):
    return False
  with h5py.File(path, "r") as file:
    return PROPOSALS in file and COUNTS in file


def _feature_folder(folder: pathlib.Path) -> pathlib.Path:
  found = [entry for entry in sorted(folder.iterdir()) if entry.is_dir() and _has_arrays(entry)]
  if len(found) != 1:
    raise errors.UserError(
      f"{folder}: {len(found)} folders of .npy files; expected the one with the proposals' features"
    )
  return found[0]


def _has_arrays(folder: pathlib.Path) -> bool:
  return next(folder.glob("*.npy"), None) is not None


def _image_id(image: dict[str, Any], path: pathlib.Path) -> str:
  if "id" in image:
    return str(image["id"])
  if "file_path" in image:
    return pathlib.PurePath(image["file_path"]).stem
  raise errors.UserError(f"{path}: a picture with neither id nor file_path; give it its id")
