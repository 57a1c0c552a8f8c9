"""Region proposals of Grounded Video Description for pictures (Zhou et al., CVPR 2019).

A folder holds

    *.h5             `dets_labels` [N, P, 6] x1, y1, x2, y2, class, score; `nms_num` [N]
    dic_*.json       `images`, in the order of the rows, each with its `id` or `file_path`
    a folder of ID.npy      [P, D] features of the proposals
    objects_vocab.txt       names of the detector's classes, one per line; optional

Proposals with a score of at most 0.2 are left out, as in the released loader.
"""

import functools
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data import records, source_files
from gcap_tf.data.stores import proposal_store, region_store


class GVDStore(proposal_store.ProposalStore):
  """Proposals in HDF5 with features in a folder."""

  item = "picture"
  counts = "nms_num"
  columns = ("x1", "y1", "x2", "y2", "class", "score")

  def __init__(self, path: files.PathLike, least_score: float = proposal_store.LEAST_SCORE):
    super().__init__(path, least_score)
    self.features = _feature_folder(self.folder)

  def _read(self, image_id: str) -> records.Regions:
    kept = self._kept(image_id)
    return records.Regions(
      boxes_px=region_store.float_rows(kept.proposals[:, :4]),
      features=kept.features,
      labels=self._labels(kept.proposals[:, 4], image_id),
      scores=kept.scores,
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

  def listed(self) -> tuple[pathlib.Path, Mapping[str, int]]:
    lists = sorted(self.folder.glob("dic_*.json"))
    if len(lists) != 1:
      raise errors.UserError(
        f"{self.folder}: {len(lists)} files dic_*.json; expected the one that lists the pictures "
        f"in the order of {self.proposals_file.name}"
      )
    images = files.read_json(lists[0], "picture list").get("images", [])
    return lists[0], {_image_id(image, lists[0]): row for row, image in enumerate(images)}


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
