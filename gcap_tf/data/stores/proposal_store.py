"""Proposals in HDF5, features in a folder: what GVD's stores of pictures and of videos share.

*.h5          `dets_labels` [N, P, columns], the score last; the number of proposals [N]
ID.npy        [.., D] features of the proposals, in their order
"""

import dataclasses
import functools
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gcap_tf import errors, files, optional
from gcap_tf.data.stores import precomp_arrays, region_store

if TYPE_CHECKING:
  import h5py

LEAST_SCORE = 0.2
PROPOSALS = "dets_labels"


@dataclasses.dataclass(frozen=True)
class Kept:
  """The proposals of one item that score enough.

  Attributes:
    proposals: [n, columns].
    features: [n, D] float32.
    scores: [n] float32.
  """

  proposals: np.ndarray
  features: np.ndarray
  scores: np.ndarray


class ProposalStore(region_store.RegionStore):
  """Reads proposals of an item when it is asked for.

  Attributes:
    item: "picture" or "segment".
    counts: key of the numbers of proposals.
    columns: names of the columns of a proposal, the score last.
    features: folder of the features; a subclass sets it.
  """

  item: ClassVar[str]
  counts: ClassVar[str]
  columns: ClassVar[tuple[str, ...]]
  features: pathlib.Path

  def __init__(self, path: files.PathLike, least_score: float = LEAST_SCORE):
    """Finds the file of proposals.

    Args:
      path: the folder, or the proposals' HDF5 file in it.
      least_score: proposals must score more than this; an item keeps its best one anyway.
    """
    super().__init__(path)
    found = self.proposals_in(self.path)
    if found is None:
      raise errors.UserError(f"{path}: no HDF5 file with {PROPOSALS} and {self.counts} there")
    self.proposals_file, self.folder = found, found.parent
    self.least_score = least_score
    self._datasets: dict[str, h5py.Dataset] = {}
    self._process = os.getpid()

  @classmethod
  def proposals_in(cls, path: pathlib.Path) -> pathlib.Path | None:
    """The HDF5 file of such proposals that `path` is or holds."""
    found = sorted(path.glob("*.h5")) if path.is_dir() else [path]
    return next((file for file in found if file.is_file() and cls._has_proposals(file)), None)

  @classmethod
  def _has_proposals(cls, path: pathlib.Path) -> bool:
    h5py = optional.require("h5py", "train")
    if not h5py.is_hdf5(path):
      return False
    with h5py.File(path, "r") as file:
      return PROPOSALS in file and cls.counts in file

  def __getstate__(self) -> dict[str, Any]:
    return {**self.__dict__, "_datasets": {}, "_process": 0}

  def ids(self) -> Sequence[str]:
    return list(self._rows)

  def where(self, image_id: str) -> str:
    return f"{self.proposals_file}, row {self._rows[image_id]}, {self.item} {image_id}"

  def listed(self) -> tuple[pathlib.Path, Mapping[str, int]]:
    """The file that lists the items, and their rows."""
    raise NotImplementedError

  @functools.cached_property
  def _rows(self) -> Mapping[str, int]:
    path, rows = self.listed()
    if len(rows) != len(self._dataset(PROPOSALS)):
      raise errors.UserError(
        f"{path} lists {len(rows):,} {self.item}s, but {self.proposals_file.name} has "
        f"{len(self._dataset(PROPOSALS)):,} rows; the two belong to different sets"
      )
    return rows

  def _kept(self, image_id: str) -> Kept:
    row = self._rows[image_id]
    proposals = self._dataset(PROPOSALS)[row, : int(self._dataset(self.counts)[row])]
    path = self.features / f"{image_id}.npy"
    features = region_store.load_array(path, "features", mapped=True)
    features = features.reshape(-1, features.shape[-1])
    if len(features) != len(proposals):
      raise errors.UserError(
        f"features {path} have {len(features)} rows, but {self.where(image_id)} has "
        f"{len(proposals)} proposals; extract it again"
      )
    scores = proposals[:, -1]
    kept = np.flatnonzero(scores > self.least_score)
    if not len(kept) and len(scores):
      kept = np.array([np.argmax(scores)])
    return Kept(
      proposals[kept],
      region_store.float_rows(features[kept]),
      region_store.float_rows(scores[kept]),
    )

  def _dataset(self, key: str) -> "h5py.Dataset":
    if self._process != os.getpid():
      self._datasets, self._process = {}, os.getpid()
    if key not in self._datasets:
      dataset = precomp_arrays.open_dataset(self.proposals_file, key)
      if key == PROPOSALS and (dataset.ndim != 3 or dataset.shape[2] != len(self.columns)):
        raise errors.UserError(
          f"{self.proposals_file}: {key} has shape {list(dataset.shape)}; expected [{self.item}s, "
          f"proposals, {len(self.columns)}]: {', '.join(self.columns)}"
        )
      self._datasets[key] = dataset
    return self._datasets[key]
