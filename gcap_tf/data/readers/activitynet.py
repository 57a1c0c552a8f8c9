"""Reads ActivityNet-Entities (Zhou et al., CVPR 2019, arXiv:1812.06587).

A folder holds

    split_ids_anet_entities.json                              videos of each split
    anet_entities_cleaned_class_thresh50_trainval.json        train and val, with boxes
    anet_entities_cleaned_class_thresh50_test_skeleton.json   test: sentences without boxes
    anet_entities_cleaned_class_thresh50_hidden_test_skeleton.json   segments without sentences

any of the last three; or GVD's prepared files (`gvd_annotations`). A segment is a record: ten
frames spread evenly over it, one sentence, boxes that each lie in one frame and may carry several
words. Boxes are in pixels of frames 720 wide.

Words are those of the files, in their case ("A" and "a" are two words, as in GVD's video program);
empty words are left out, and `Segment.dropped` remembers them. Segments are in the order of their
numbers.
"""

import functools
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from absl import logging

from gcap_tf import box_geometry, errors, files
from gcap_tf.data import gvd_annotations, records
from gcap_tf.data.readers import reader
from gcap_tf.text import object_words

FRAMES = 10
FRAME_WIDTH = 720  # GVD divides both sides of a box by it.
_SPLIT_IDS = "split_ids_anet_entities.json"
_NAME = "anet_entities_cleaned_class_thresh50_{}.json"
_SPLITS = {
  "train": ("training", "trainval"),
  "val": ("validation", "trainval"),
  "test": ("testing", "test_skeleton"),
  "hidden_test": ("hidden_test", "hidden_test_skeleton"),
}
_LISTS = ("frame_ind", "process_bnd_box", "process_clss", "process_idx")
_LATE_SECONDS = 0.5  # times are rounded: some segments end a hundredth after their video


class ActivityNetEntities(reader.Reader):
  """Segments of videos; the id of a record is VIDEO_segment_NN, as in GVD's files."""

  def __init__(
    self,
    source: files.PathLike,
    classes: object_words.ObjectClasses | None = None,
    merge: box_geometry.Merge = "union",
  ):
    """Looks at the source.

    Args:
      source: the folder.
      classes: replace the classes of the files.
      merge: not used, a word keeps all its boxes.
    """
    super().__init__(source, classes, merge)
    self.folder = pathlib.Path(source)
    self._paths = {
      split: self.folder / _NAME.format(kind)
      for split, (_, kind) in _SPLITS.items()
      if (self.folder / _NAME.format(kind)).is_file()
    }
    self._prepared = not self._paths and gvd_annotations.is_here(self.folder)
    if not self._paths and not self._prepared:
      raise errors.UserError(
        f"{source}: neither {_NAME.format('*')} nor {gvd_annotations.WORDS} there; give the folder "
        "that holds them"
      )

  @property
  def classes(self) -> object_words.ObjectClasses | None:
    return self._classes or self._own_classes

  @property
  def splits(self) -> tuple[str, ...]:
    if not self._prepared:
      return tuple(self._paths)
    return tuple(split for split, (name, _) in _SPLITS.items() if name in self._gvd.videos)

  def image_ids(self, split: str) -> Sequence[str]:
    return list(self._segments(split))

  def record(self, image_id: str, split: str) -> records.Record:
    video, name = self._segments(split)[image_id]
    entry = self._videos(split)[video]
    here = f"{self.where(split)}: video {video}, segment {name}"
    segment = _timed(entry, video, name, here)
    caption, dropped, boxes = _sentence(entry["segments"][name], image_id, here)
    names = {box.number: word for word in reversed(caption.objects) for box in word.frame_boxes}
    return records.Record(
      image_id=image_id,
      split=split,
      width=FRAME_WIDTH,
      height=FRAME_WIDTH,
      captions=(caption,) if caption.tokens else (),
      annotated=tuple(
        records.AnnotatedObject(names[box.number].name, box.box_px, str(box.number), (), box.frame)
        for box in boxes
      ),
      segment=records.Segment(**segment, dropped=dropped),
    )

  def where(self, split: str) -> str:
    """The file of a split, for errors."""
    return str(self.folder / gvd_annotations.WORDS if self._prepared else self._paths[split])

  def _segments(self, split: str) -> dict[str, tuple[str, str]]:
    """Record id -> video and name of the segment, in order."""
    if split not in self._listed:
      found = {}
      for video in self._ids(split):
        entry = self._videos(split)[video]
        segments = entry.get("segments") if isinstance(entry, dict) else None
        if not isinstance(segments, dict) or not all(
          name.isdecimal() and len(name) < 10 and isinstance(segments[name], dict)
          for name in segments
        ):
          raise errors.UserError(
            f'{self.where(split)}: video {video}: "segments" must name segments by number'
          )
        for name in sorted(segments, key=int):
          found[f"{video}_segment_{int(name):02d}"] = (video, name)
      self._listed[split] = found
    return self._listed[split]

  def _ids(self, split: str) -> list[str]:
    """The videos of a split that the annotation has; others are counted."""
    known = self._videos(split)
    if self._prepared:
      return list(known)
    path, name = self.folder / _SPLIT_IDS, _SPLITS[split][0]
    listed = files.read_json(path, "split ids")
    videos = listed.get(name) if isinstance(listed, dict) else None
    if not isinstance(videos, list) or not all(isinstance(video, str) for video in videos):
      raise errors.UserError(f'{path}: no list "{name}"; expected the videos of each split')
    found = [video for video in listed[name] if video in known]
    if len(found) < len(listed[name]):
      missing = [video for video in listed[name] if video not in known]
      logging.warning(
        "%s has %d of the %d videos of %s; left out: %s, ...",
        self.where(split), len(found), len(listed[name]), split, ", ".join(missing[:3]),
      )  # fmt: skip
    return found

  def _videos(self, split: str) -> dict[str, Any]:
    if self._prepared:
      return self._gvd.videos[_SPLITS[split][0]]
    return self._annotations(self._paths[split])

  def _annotations(self, path: pathlib.Path) -> dict[str, Any]:
    if path not in self._read:
      value = files.read_json(path, "annotation")
      if not isinstance(value, dict) or not isinstance(value.get("annotations"), dict):
        raise errors.UserError(
          f'{path}: no "annotations" by video; expected a file of ActivityNet-Entities'
        )
      self._read[path] = value
    return self._read[path]["annotations"]

  @functools.cached_property
  def _own_classes(self) -> object_words.ObjectClasses | None:
    if self._prepared:
      return object_words.ObjectClasses(self._gvd.classes)
    path = next(iter(self._paths.values()))
    self._annotations(path)
    names = self._read[path].get("vocab")
    return object_words.ObjectClasses(names) if names else None

  @functools.cached_property
  def _gvd(self) -> gvd_annotations.GVDAnnotations:
    return gvd_annotations.read(self.folder)

  @functools.cached_property
  def _read(self) -> dict[pathlib.Path, dict[str, Any]]:
    """The files that were read so far."""
    return {}

  @functools.cached_property
  def _listed(self) -> dict[str, dict[str, tuple[str, str]]]:
    """The segments of the splits that were listed so far."""
    return {}


def _timed(entry: dict[str, Any], video: str, name: str, here: str) -> dict[str, Any]:
  """Fields of a `records.Segment`; its times must lie in the video."""
  duration, times = entry.get("duration", 0), entry["segments"][name].get("timestamps", [0, 0])
  if not isinstance(duration, int | float) or not _are_numbers(times) or len(times) != 2:
    raise errors.UserError(
      f"{here}: duration {duration!r}, timestamps {times!r}; expected seconds, and two of them"
    )
  start, end = times
  if duration and not 0 <= start <= end <= duration + _LATE_SECONDS:
    raise errors.UserError(
      f"{here} lasts from {start:g} to {end:g} s, its video {duration:g} s; correct the times"
    )
  return {
    "video": video,
    "name": name,
    "number": int(name),
    "count": len(entry["segments"]),
    "start": float(start),
    "end": min(float(end), float(duration)) if duration else float(end),
    "duration": float(duration),
    "frames": FRAMES,
  }


def _sentence(
  entry: dict[str, Any], image_id: str, here: str
) -> tuple[records.Caption, tuple[int, ...], list[records.FrameBox]]:
  """The caption, the positions of its empty words, and its boxes."""
  words = entry.get("tokens")
  if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
    raise errors.UserError(f'{here}: "tokens" must list words')
  kept = [n for n, word in enumerate(words) if word.strip()]
  dropped = tuple(n for n, word in enumerate(words) if not word.strip())
  boxes, words_of_boxes = _boxes(entry, here)
  placed: dict[int, tuple[str, list[records.FrameBox]]] = {}
  for box, (names, places) in zip(boxes, words_of_boxes, strict=True):
    for name, place in zip(names, places, strict=True):
      if place not in kept:
        raise errors.UserError(
          f"{here}: box {box.number} is of word {place}; the sentence has words 0 to "
          f"{len(words) - 1}, of which {len(dropped)} are empty"
        )
      placed.setdefault(kept.index(place), (name, []))[1].append(box)
  tokens = tuple("_".join(words[n].split()) for n in kept)
  objects = tuple(
    records.ObjectWord(index, name, own[0].box_px, tuple(own))
    for index, (name, own) in sorted(placed.items())
  )
  caption = records.Caption(f"{image_id}#0", " ".join(tokens), tokens, objects=objects)
  return caption, dropped, boxes


def _boxes(
  entry: dict[str, Any], here: str
) -> tuple[list[records.FrameBox], list[tuple[list[str], list[int]]]]:
  """The boxes of a segment, with the classes and positions of the words of each."""
  if not entry.get("frame_ind"):  # Skeletons name words without their boxes.
    return [], []
  lists = [entry.get(key) for key in _LISTS]
  if not all(isinstance(rows, list) and len(rows) == len(lists[0]) for rows in lists):
    raise errors.UserError(f"{here}: {', '.join(_LISTS)} must be lists of one length")
  crowds = entry.get("crowds") or [0] * len(lists[0])
  boxes, words = [], []
  for number, (frame, box, names, places) in enumerate(zip(*lists, strict=True)):
    if type(frame) is not int or not 0 <= frame < FRAMES:
      raise errors.UserError(
        f"{here}: box {number} is in frame {frame}; expected frames 0 to {FRAMES - 1}: correct it"
      )
    if not _are_numbers(box) or len(box) < 4 or not isinstance(names, list):
      raise errors.UserError(
        f"{here}: box {number} is {str(box)[:60]} of {str(names)[:60]}; expected x1, y1, x2, y2 "
        "and a list of classes"
      )
    if not isinstance(places, list) or len(places) != len(names) or not names:
      raise errors.UserError(
        f"{here}: box {number} has classes {names} at words {places}; expected one word a class"
      )
    crowd = number < len(crowds) and bool(crowds[number])
    boxes.append(records.FrameBox(frame, np.array(box[:4], np.float32), number, crowd))
    words.append((names, places))
  return boxes, words


def _are_numbers(values: Any) -> bool:
  return isinstance(values, list) and all(isinstance(value, int | float) for value in values)
