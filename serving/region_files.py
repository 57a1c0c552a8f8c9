"""Reads the regions of a picture for a client, from one of

- a folder of features: `att/ID.npz`, `box/ID.npy` (bottom-up features)
- a detections file: {"width": 640, "height": 480, "regions": [{"box": [x1, y1, x2, y2],
  "label": "dog", "feature": [...]}]}; boxes in pixels, or from 0 to 1 without a size
- a file of detections in COCO's format, for one or more pictures
  (`gcap_tf.data.stores.detection_files`)
- a record of a prepared folder
"""

import dataclasses
import pathlib
from typing import Any

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.prepared import prepared_data
from gcap_tf.data.stores import detection_files, feature_folders

_OVERHANG = 0.02  # detectors place boxes a little outside the picture; these are clipped


@dataclasses.dataclass(frozen=True)
class PictureRegions:
  """The regions of one picture.

  Attributes:
    boxes: [R, 4] float32 from 0 to 1.
    features: [R, D] float32, or None.
    labels: one per region, or None.
    picture: encoded picture, b"" if there is none.
  """

  boxes: np.ndarray
  features: np.ndarray | None = None
  labels: tuple[str, ...] | None = None
  picture: bytes = b""


def from_folder(
  folder: files.PathLike, image_id: str, size: tuple[int, int] | None
) -> PictureRegions:
  """Reads `att/ID.npz` and `box/ID.npy`.

  Args:
    folder: holds `att` and `box`.
    image_id: names the files.
    size: width and height of the picture, to scale boxes from pixels to 0..1; None if
      boxes already go from 0 to 1.
  """
  store = feature_folders.FolderStore(folder)
  regions = store.get(image_id, *(size or (0, 0)))
  if regions.boxes_px is None:
    raise errors.UserError(f"{folder} has no boxes (box/{image_id}.npy): a caption needs them")
  return PictureRegions(
    _scale_boxes(regions.boxes_px, size, f"{folder}/box/{image_id}.npy"), regions.features
  )


def from_detections(
  path: files.PathLike,
  image_id: str = "",
  size: tuple[int, int] | None = None,
  picture_name: str = "",
) -> PictureRegions:
  """Reads a detections file.

  Args:
    path: the file.
    image_id: picture of a COCO file; "" takes that of `picture_name`, or the only one.
    size: width and height of the picture, for a COCO file without sizes.
    picture_name: file name of the picture, such as 000000391895.jpg.
  """
  value = files.read_json(path, "detections")
  if isinstance(value, list) or (isinstance(value, dict) and "annotations" in value):
    return _from_coco(path, image_id, size, picture_name)
  regions = value.get("regions") if isinstance(value, dict) else None
  if not isinstance(regions, list) or not all(isinstance(r, dict) for r in regions):
    raise errors.UserError(f'{path}: expected an object with a list "regions"')
  boxes = _column(regions, "box", path)
  if boxes is None and regions:
    raise errors.UserError(f'{path}: regions have no "box"')
  boxes = np.zeros((0, 4), np.float32) if boxes is None else _rows(boxes, 4, "box", path)
  picture_size = size
  size = _size(value, path) if {"width", "height"} <= value.keys() else None
  _check_same_picture(size, picture_size, path)
  features = _column(regions, "feature", path)
  labels = _column(regions, "label", path)
  return PictureRegions(
    _scale_boxes(boxes, size, str(path)),
    None if features is None else _rows(features, None, "feature", path),
    None if labels is None else tuple(map(str, labels)),
  )


def _from_coco(
  path: files.PathLike, image_id: str, size: tuple[int, int] | None, picture_name: str
) -> PictureRegions:
  store = detection_files.DetectionStore(path, image_size=size, picture=image_id or picture_name)
  ids = store.ids()
  image_id = image_id or store.of_file(picture_name) or ""
  if not image_id and len(ids) > 1:
    raise errors.UserError(
      f"{path} has {len(ids):,} pictures, such as {', '.join(ids[:3])}; "
      "choose one with --image_id=ID"
    )
  chosen = image_id or ids[0]
  regions = store.get(chosen)
  known = store.size(chosen)
  _check_same_picture(known if all(known) else None, size, path)
  frame = known if all(known) else tuple(regions.boxes_px[:, 2:].max(0).tolist())
  return PictureRegions(_scale_boxes(regions.boxes_px, frame, str(path)), None, regions.labels)


def from_prepared(folder: files.PathLike, split: str, image_id: str) -> PictureRegions:
  """Reads one record of a prepared folder; an empty id takes the first of the split."""
  found = prepared_data.PreparedData(folder).split(split)
  position = 0
  if image_id:
    matches = np.flatnonzero(found.image_ids == image_id)
    if not len(matches):
      raise errors.UserError(f'{folder}: split {split} has no picture "{image_id}"')
    position = int(matches[0])
  return from_record(found.record(position))


def from_record(record: records.Record) -> PictureRegions:
  """Returns the regions of a record."""
  regions = record.regions
  if regions is None or regions.boxes_px is None:
    raise errors.UserError(f"record {record.image_id} has no boxes: a caption needs them")
  return PictureRegions(
    _scale_boxes(regions.boxes_px, (record.width, record.height), f"record {record.image_id}"),
    regions.features,
    regions.labels or None,
    record.picture,
  )


def _scale_boxes(boxes: np.ndarray, size: tuple[int, int] | None, source: str) -> np.ndarray:
  boxes = np.asarray(boxes, np.float32)
  if size is not None:
    if min(size) <= 0:
      raise errors.UserError(f"{source}: the picture's size is {size}; boxes cannot be scaled")
    boxes = boxes / np.array([*size, *size], np.float32)
    clipped = np.clip(boxes, 0.0, 1.0)
    if boxes.size and np.abs(boxes - clipped).max() <= _OVERHANG:
      boxes = clipped
  elif boxes.size and boxes.max() > 1.5:
    raise errors.UserError(f"{source}: boxes are in pixels; give the picture or its size")
  return boxes


def _size(value: dict[str, Any], path: files.PathLike) -> tuple[float, float]:
  found = (value["width"], value["height"])
  if not all(isinstance(x, int | float) and not isinstance(x, bool) and x > 0 for x in found):
    raise errors.UserError(f'{path}: "width" and "height" must be numbers above 0, not {found}')
  return found


def _check_same_picture(
  size: tuple[float, float] | None, picture: tuple[int, int] | None, path: files.PathLike
) -> None:
  """Refuses boxes of a picture of another shape; a picture that was only scaled is the same."""
  if size is None or picture is None:
    return
  if abs(size[0] * picture[1] / (size[1] * picture[0]) - 1) > _OVERHANG:
    raise errors.UserError(
      f"{path}: its boxes are of a picture of {size[0]} x {size[1]}, but the picture has "
      f"{picture[0]} x {picture[1]}; give the picture that they were found in"
    )


def _column(regions: list[dict[str, Any]], key: str, path: files.PathLike) -> list[Any] | None:
  having = [region[key] for region in regions if key in region]
  if having and len(having) != len(regions):
    raise errors.UserError(f'{path}: some regions have "{key}" and others do not')
  return having or None


def _rows(values: list[Any], size: int | None, key: str, path: files.PathLike) -> np.ndarray:
  try:
    array = np.array(values, np.float32)
  except (ValueError, TypeError):
    array = np.zeros(0, np.float32)
  if array.ndim != 2 or (size is not None and array.shape[1] != size):
    wanted = f"{size} numbers" if size else "a list of numbers of one length"
    raise errors.UserError(f'{pathlib.Path(path)}: every "{key}" must be {wanted}')
  return array
