"""Reads COCO captions with COCO's detection boxes.

Lin et al., Microsoft COCO, ECCV 2014, arXiv:1405.0312; Chen et al., COCO Captions,
arXiv:1504.00325. A source is a folder with

    annotations/captions_train2017.json     and so on; the split is in the name
    annotations/instances_train2017.json    optional: boxes
    train2017/                              optional: the pictures

The dataset does not link words to boxes: a word that names a category stands for all
instances of the category in the picture.
"""

import collections
import dataclasses
import functools
import pathlib
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from absl import logging

from gcap_tf import box_geometry, errors, files
from gcap_tf.data import records, source_files
from gcap_tf.data.readers import category_words, reader
from gcap_tf.text import object_words, tokenizer

_IDS = (int, str)
_KEYS = {
  "images": {"id": _IDS, "file_name": str, "width": int, "height": int},
  "captions": {"id": _IDS, "image_id": _IDS, "caption": str},
  "instances": {"id": _IDS, "image_id": _IDS, "category_id": int, "bbox": list},
  "categories": {"id": int, "name": str},
}
_CAPTIONS = re.compile(r"captions_(?P<split>[a-z]+)(?P<year>\d*)\.json")


@dataclasses.dataclass(frozen=True)
class _Part:
  """The content of a split, by picture."""

  images: dict[str, dict[str, Any]]
  captions: dict[str, list[dict[str, Any]]]
  annotated: dict[str, tuple[records.AnnotatedObject, ...]]
  words: category_words.CategoryWords
  pictures: pathlib.Path


class COCO(reader.Reader):
  """A COCO folder."""

  def __init__(
    self,
    source: files.PathLike,
    classes: object_words.ObjectClasses | None = None,
    merge: box_geometry.Merge = "union",
    crowds: Literal["keep", "drop"] = "keep",
  ):
    """Looks at the source.

    Args:
      source: the folder that holds `annotations/`.
      classes: by default an object word has the name of its category; a class list renames
        object words, and drops words that it lacks.
      merge: how several instances of a category become the one box of a word.
      crowds: whether to keep boxes around uncounted crowds.
    """
    super().__init__(source, classes, merge)
    self.crowds = crowds
    self.files = _caption_files(pathlib.Path(source))

  @property
  def splits(self) -> tuple[str, ...]:
    return tuple(self.files)

  def image_ids(self, split: str) -> Sequence[str]:
    return list(self._part(split).images)

  def record(self, image_id: str, split: str) -> records.Record:
    part = self._part(split)
    image = part.images[image_id]
    if image_id not in part.captions:
      raise errors.UserError(
        f"{self.files[split]}: picture {image_id} has no caption; add one or remove the picture"
      )
    boxes_px = collections.defaultdict(list)
    for thing in part.annotated.get(image_id, ()):
      boxes_px[thing.label].append(thing.box_px)
    merged_px = {
      name: box_geometry.merged(np.stack(boxes), self.merge) for name, boxes in boxes_px.items()
    }
    picture = part.pictures / image["file_name"]
    return records.Record(
      image_id=image_id,
      split=split,
      width=image["width"],
      height=image["height"],
      captions=tuple(
        self._caption(entry, part.words, merged_px, split) for entry in part.captions[image_id]
      ),
      annotated=part.annotated.get(image_id, ()),
      picture_path=str(picture) if picture.is_file() else "",
    )

  def _caption(
    self,
    entry: dict[str, Any],
    words: category_words.CategoryWords,
    merged_px: dict[str, np.ndarray],
    split: str,
  ) -> records.Caption:
    tokens = tuple(tokenizer.tokenize(entry["caption"]))
    if not tokens:
      raise errors.UserError(f"{self.files[split]}: caption {entry['id']} has no words; remove it")
    objects = (
      records.ObjectWord(position, name, merged_px[category])
      for position, category in words.find(tokens)
      if category in merged_px and (name := self._name(tokens[position], category))
    )
    return records.Caption(
      str(entry["id"]), entry["caption"].strip(), tokens, objects=tuple(objects)
    )

  def _name(self, word: str, category: str) -> str | None:
    return category if self._classes is None else self._classes.of(word)

  def _part(self, split: str) -> _Part:
    if split not in self._parts:
      self._parts[split] = self._read_part(self.files[split])
    return self._parts[split]

  @functools.cached_property
  def _parts(self) -> dict[str, _Part]:
    """The splits that were read so far."""
    return {}

  def _read_part(self, path: pathlib.Path) -> _Part:
    content = _sections(path, {"images": "images", "annotations": "captions"})
    images = {str(image["id"]): image for image in content["images"]}
    captions: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for entry in content["annotations"]:
      if str(entry["image_id"]) not in images:
        raise errors.UserError(
          f"{path}: caption {entry['id']} is of picture {entry['image_id']}, which is not listed"
        )
      captions[str(entry["image_id"])].append(entry)

    instances = path.with_name(path.name.replace("captions", "instances"))
    names, annotated = {}, {}
    if instances.is_file():
      content = _sections(instances, {"annotations": "instances", "categories": "categories"})
      names = {category["id"]: category["name"] for category in content["categories"]}
      annotated = self._annotated(instances, content["annotations"], names, images)
    year = _CAPTIONS.fullmatch(path.name)
    return _Part(
      images=images,
      captions=dict(captions),
      annotated=annotated,
      words=category_words.CategoryWords(names.values()),
      pictures=path.parent.parent / f"{year['split']}{year['year']}",
    )

  def _annotated(
    self,
    path: pathlib.Path,
    instances: list[dict[str, Any]],
    names: dict[int, str],
    images: dict[str, dict[str, Any]],
  ) -> dict[str, tuple[records.AnnotatedObject, ...]]:
    """Boxes by picture. Those without area, of which COCO has a few, are left out and counted."""
    found = collections.defaultdict(list)
    empty = 0
    for instance in instances:
      image = images.get(str(instance["image_id"]))
      if image is None or (instance.get("iscrowd") and self.crowds == "drop"):
        continue
      if instance["category_id"] not in names:
        raise errors.UserError(
          f"{path}: instance {instance['id']} has category {instance['category_id']}, which is "
          "not among the categories"
        )
      box_px = _box(instance, image, path)
      if box_geometry.area(box_px) <= 0:
        empty += 1
        continue
      found[str(instance["image_id"])].append(
        records.AnnotatedObject(names[instance["category_id"]], box_px, str(instance["id"]))
      )
    if empty:
      logging.warning("%s: left out %d boxes without area", path, empty)
    return {image_id: tuple(things) for image_id, things in found.items()}


def _caption_files(source: pathlib.Path) -> dict[str, pathlib.Path]:
  """Split -> its captions file."""
  folder = source / "annotations" if (source / "annotations").is_dir() else source
  found: dict[str, pathlib.Path] = {}
  for path in sorted(folder.glob("captions_*.json")):
    match = _CAPTIONS.fullmatch(path.name)
    if match and match["split"] in found:
      raise errors.UserError(
        f"{folder}: {found[match['split']].name} and {path.name} are both the split "
        f"{match['split']}; move one of them away"
      )
    if match:
      found[match["split"]] = path
  if not found:
    raise errors.UserError(
      f"{source}: no annotations/captions_*.json there; give the folder that holds annotations/"
    )
  return found


def _sections(path: pathlib.Path, kinds: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
  """The lists of a file, by section; `kinds` gives the required keys of a section's entries."""
  content = files.read_json(path, "COCO annotations")
  for section, kind in kinds.items():
    if not isinstance(content, dict) or not isinstance(content.get(section), list):
      raise errors.UserError(f'{path}: no list "{section}"; expected COCO\'s format')
    for number, entry in enumerate(content[section]):
      source_files.require(entry, _KEYS[kind], f"{path}: {section}[{number}]")
  return content


def _box(instance: dict[str, Any], image: dict[str, Any], path: pathlib.Path) -> np.ndarray:
  """[4] x1, y1, x2, y2 of an instance's x, y, width, height, cut at the picture's edges."""
  try:
    x, y, width, height = (float(value) for value in instance["bbox"])
  except (TypeError, ValueError, OverflowError):
    raise errors.UserError(
      f"{path}: instance {instance['id']} has bbox {instance['bbox']}; "
      "expected [x, y, width, height]"
    ) from None
  box_px = np.array([x, y, x + width, y + height], np.float32)
  clipped = box_geometry.clip(box_px, image["width"], image["height"])
  if not np.isfinite(box_px).all() or (
    box_geometry.area(box_px) > 0 and box_geometry.area(clipped) <= 0
  ):
    raise errors.UserError(
      f"{path}: instance {instance['id']} has bbox {instance['bbox']}, outside its picture of "
      f"{image['width']} x {image['height']} pixels; correct or remove it"
    )
  return clipped
