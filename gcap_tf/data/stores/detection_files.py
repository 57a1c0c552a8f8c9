"""Detections as COCO writes them, read as a region store: any detector's boxes with labels.

    [{"image_id": 7, "bbox": [x, y, width, height], "category": "dog", "score": 0.9}, ...]
    {"images": [{"id": 7, "width": 640, "height": 480}], "annotations": [...],
     "categories": [{"id": 18, "name": "dog"}]}

Boxes are in pixels. The name of a thing is its `category`, its `label`, or the name of its
`category_id` in `categories`. A picture without detections is one region, the whole
picture, without a label: captioners of labelled regions are trained on such pictures.
"""

import collections
import dataclasses
import functools
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from absl import logging

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.stores import coco_categories, region_store

MIN_SCORE = 0.3
_MOST = 1e9  # pixels, and the highest score
_NAMES = ("category", "label", "category_name", "class", "name")


@dataclasses.dataclass(frozen=True)
class Detection:
  """One detection: its picture, [x1, y1, x2, y2] in pixels, its name, its score or None."""

  image_id: str
  box_px: tuple[float, float, float, float]
  name: str
  score: float | None


class DetectionStore(region_store.RegionStore):
  """The pictures of a detections file; regions carry labels and no features."""

  def __init__(
    self,
    path: files.PathLike,
    min_score: float = MIN_SCORE,
    image_size: tuple[int, int] | None = None,
    picture: str = "",
    warn_unsized: bool = True,
  ):
    """Reads the whole file.

    Args:
      path: the file.
      min_score: detections with a lower score are dropped.
      image_size: width and height of pictures whose size is not in the file.
      picture: id, or name of the file, of the only picture whose detections are read; the
        others are listed without regions.
      warn_unsized: whether to warn of pictures whose size is unknown.
    """
    super().__init__(path)
    value = files.read_json(path, "detections")
    self._sizes, found = _read(value, str(path))
    listed = value.get("images", []) if isinstance(value, dict) else []
    self._named = {
      e["file_name"]: str(e["id"]) for e in listed if isinstance(e.get("file_name"), str)
    }
    self._fallback = image_size or (0, 0)
    ids = [*self._sizes, *(detection.image_id for detection in found)]
    self._rows: dict[str, list[Detection]] = {image_id: [] for image_id in ids}
    if chosen := self.of_file(picture):
      found = [detection for detection in found if detection.image_id == chosen]
    dropped = collections.Counter()
    for detection in found:
      clipped = self._inside(detection)
      if detection.score is not None and detection.score < min_score:
        dropped[f"under the score {min_score:g}"] += 1
      elif clipped is None:
        dropped["without an area in their picture"] += 1
      else:
        self._rows[detection.image_id].append(clipped)
    for why, count in dropped.items():
      logging.info("%s: %s of %s detections dropped, %s", path, f"{count:,}", len(found), why)
    if not self._rows:
      raise errors.UserError(f"{path} holds no detections: there is nothing to caption")
    unsized = [image_id for image_id in self._rows if not all(self.size(image_id))]
    if unsized and warn_unsized:
      logging.warning(
        "%s: no size of %d of %d pictures; their boxes are taken to reach to the edges. "
        "give images[].width and height, or --image_size=WIDTHxHEIGHT",
        path,
        len(unsized),
        len(self._rows),
      )

  def ids(self) -> Sequence[str]:
    return self._ids_in_order

  @functools.cached_property
  def _ids_in_order(self) -> tuple[str, ...]:
    return tuple(self._rows)

  def size(self, image_id: str) -> tuple[int, int]:
    known = self._sizes.get(image_id, (0, 0))
    return known if all(known) else self._fallback

  def of_file(self, name: str) -> str | None:
    """The picture of a file: the one listed with that name, or whose id it is or holds.

    000000391895.jpg -> "391895"
    """
    stem = pathlib.PurePath(name).stem
    for image_id in (self._named.get(name), name, stem, stem.lstrip("0")):
      if image_id in self._rows:
        return image_id
    return None

  @property
  def names(self) -> list[str]:
    """Names of the detections that were kept, repeats included."""
    return [row.name for rows in self._rows.values() for row in rows]

  def _read(self, image_id: str) -> records.Regions:
    rows = self._rows[image_id]
    if not rows:
      width, height = self.size(image_id)
      whole = np.array([[0, 0, width or 1, height or 1]], np.float32)
      return records.Regions(boxes_px=whole, labels=("",))
    scores = [1.0 if row.score is None else row.score for row in rows]
    return records.Regions(
      boxes_px=np.array([row.box_px for row in rows], np.float32),
      labels=tuple(row.name for row in rows),
      scores=np.array(scores, np.float32),
    )

  def _inside(self, detection: Detection) -> Detection | None:
    """The part of a detection that is in its picture; None if there is none."""
    width, height = self.size(detection.image_id)
    limits = np.array([width or np.inf, height or np.inf] * 2)
    x1, y1, x2, y2 = np.clip(detection.box_px, 0.0, limits).tolist()
    if x2 <= x1 or y2 <= y1:
      return None
    return dataclasses.replace(detection, box_px=(x1, y1, x2, y2))


def _read(value: Any, path: str) -> tuple[dict[str, tuple[int, int]], list[Detection]]:
  """Sizes of the pictures that the file lists, and every detection."""
  names, sizes, rows = {}, {}, value
  if isinstance(value, dict):
    rows = value.get("annotations", value.get("detections"))
    names = {
      entry["id"]: str(entry["name"])
      for entry in _dicts(value.get("categories", []), "categories", path)
      if {"id", "name"} <= entry.keys() and _is_id(entry["id"])
    }
    for entry in _dicts(value.get("images", []), "images", path):
      if "id" not in entry:
        raise errors.UserError(f'{path}: an entry of "images" has no "id"')
      size = (entry.get("width") or 0, entry.get("height") or 0)
      if not all(isinstance(edge, (int, float)) and 0 <= edge <= _MOST for edge in size):
        raise errors.UserError(f"{path}: picture {entry['id']} has the size {size}")
      sizes[str(entry["id"])] = size
  if rows is None:
    raise errors.UserError(
      f'{path}: expected a list of detections, or an object with a list "annotations"'
    )
  found = _dicts(rows, "detections", path)
  if any("category_id" in row for row in found) and not names:
    names = coco_categories.NAMES
  return sizes, [_detection(row, number, names, path) for number, row in enumerate(found)]


def _dicts(rows: Any, what: str, path: str) -> list[dict[str, Any]]:
  if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
    raise errors.UserError(f"{path}: {what} must be a list of objects")
  return rows


def _detection(row: dict[str, Any], number: int, names: dict[Any, str], path: str) -> Detection:
  here = f"{path}: detection {number}"
  if "image_id" not in row:
    raise errors.UserError(f'{here} has no "image_id"')
  box = row.get("bbox")
  try:
    x, y, width, height = (float(edge) for edge in box)
  except (TypeError, ValueError, OverflowError):
    raise errors.UserError(
      f'{here} needs a "bbox" of four numbers (x, y, width, height), found {box!r}'
    ) from None
  if not all(abs(edge) <= _MOST for edge in (x, y, width, height)):
    raise errors.UserError(f'{here} has a "bbox" beyond any picture: {box}')
  score = row.get("score")
  if score is not None and not (isinstance(score, (int, float)) and abs(score) <= _MOST):
    raise errors.UserError(f'{here} has the "score" {repr(score)[:60]}; expected a number')
  return Detection(
    str(row["image_id"]), (x, y, x + width, y + height), _name(row, names, here), score
  )


def _name(row: dict[str, Any], names: dict[Any, str], here: str) -> str:
  for key in _NAMES:
    if isinstance(row.get(key), str):
      return row[key]
  if "category_id" not in row:
    raise errors.UserError(f'{here} has neither "category" nor "label" nor "category_id"')
  if not _is_id(row["category_id"]) or row["category_id"] not in names:
    raise errors.UserError(f"{here}: no category has the id {row['category_id']!r}")
  return names[row["category_id"]]


def _is_id(value: Any) -> bool:
  return isinstance(value, (int, float, str))
