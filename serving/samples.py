"""Samples for the page: a folder of pictures with their regions, for `--samples`.

samples.json    [{"title": ..., "picture": "ID.png", "detections": "ID.json"}, ...]
ID.png, ID.json a picture, and its detections in the format of `region_files`; a photograph for a
                captioner of photographs needs no detections
"""

import dataclasses
import pathlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector

INDEX = "samples.json"
SCENE_SEED = 7


def write(folder: files.PathLike, found: Iterable[records.Record]) -> int:
  """Writes records with regions as samples; returns their number."""
  folder = pathlib.Path(folder)
  entries = []
  for record in found:
    name = re.sub(r"[^\w-]", "_", record.image_id)
    entry = {"title": f"Picture {record.image_id}", "detections": f"{name}.json"}
    files.write_json(folder / entry["detections"], detections(record), None)
    if record.picture:
      entry["picture"] = name + _suffix(record)
      with files.atomic_path(folder / entry["picture"]) as partial:
        partial.write_bytes(record.picture)
    entries.append(entry)
  files.write_json(folder / INDEX, entries)
  return len(entries)


def write_photographs(folder: files.PathLike, found: Mapping[str, pathlib.Path]) -> int:
  """Copies photographs (title -> file) as samples; returns their number."""
  folder = pathlib.Path(folder)
  entries = []
  for title, path in found.items():
    name = re.sub(r"[^\w-]", "_", path.stem) + path.suffix.lower()
    with files.atomic_path(folder / name) as partial:
      shutil.copyfile(path, partial)
    entries.append({"title": title, "picture": name})
  files.write_json(folder / INDEX, entries)
  return len(entries)


def scene_records(count: int) -> Iterator[records.Record]:
  """Yields drawn scenes with the regions of a perfect detector that knows no caption."""
  config = drawn_scenes.SceneConfig(train=0, val=0, test=count, seed=SCENE_SEED)
  for record in drawn_scenes.generate(config):
    uncaptioned = dataclasses.replace(record, captions=())
    yield dataclasses.replace(record, regions=simulated_detector.perfect(uncaptioned))


def write_scenes(folder: files.PathLike, count: int = 12) -> int:
  """Writes drawn scenes as samples for a captioner of labelled regions."""
  return write(folder, scene_records(count))


def detections(record: records.Record) -> dict:
  """Returns the detections file of one record."""
  regions = record.regions
  if regions is None or regions.boxes_px is None:
    raise errors.UserError(f"record {record.image_id} has no boxes: it cannot be a sample")
  rows = [{"box": box.tolist()} for box in regions.boxes_px]
  for row, label in zip(rows, regions.labels, strict=False):
    row["label"] = label
  if regions.features is not None:
    for row, feature in zip(rows, regions.features, strict=True):
      row["feature"] = [round(float(x), 6) for x in feature]
  return {"width": record.width, "height": record.height, "regions": rows}


def coco_detections(pictures: Iterable[records.Record]) -> dict[str, Any]:
  """Returns the regions of records in COCO's format."""
  images, rows = [], []
  for picture in pictures:
    images.append({"id": picture.image_id, "width": picture.width, "height": picture.height})
    for (x1, y1, x2, y2), label in zip(
      picture.regions.boxes_px.tolist(), picture.regions.labels, strict=True
    ):
      box = [round(edge, 1) for edge in (x1, y1, x2 - x1, y2 - y1)]
      rows.append({"image_id": picture.image_id, "bbox": box, "category": label})
  return {"images": images, "annotations": rows}


def _suffix(record: records.Record) -> str:
  return ".png" if record.picture.startswith(b"\x89PNG") else ".jpg"
