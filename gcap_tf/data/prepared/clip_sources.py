"""Regions of the frames of videos: a detector looks at ten frames of every segment.

A segment is found in the folder of clips by its own name (VIDEO_segment_00), or is cut out of the
clip of its video by its times. Segments of drawn videos carry their frames.
"""

import dataclasses
import functools
import io
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging
from PIL import Image

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.readers import reader
from gcap_tf.data.stores import extracted_store
from gcap_tf.vision import clips
from gcap_tf.vision.extraction import clip_regions, region_extractor

NAME = "clips"
REGIONS = 20  # of a frame


@dataclasses.dataclass(frozen=True)
class ClipRegions:
  """Looks at the frames of segments; can be pickled.

  Attributes:
    config: of the extraction.
    open_run: loads a run of our detector.
    found: clip of each segment or video by its name; {} if the records carry their frames.
    square: whether both sides of a box are divided by the frame's width, as in GVD.
  """

  config: region_extractor.ExtractionConfig
  open_run: region_extractor.OpenRun
  found: Mapping[str, pathlib.Path]
  square: bool = False

  def add(self, record: records.Record) -> records.Record:
    frames = self._frames(record)
    regions = clip_regions.look(_extractor(self.config, self.open_run), frames, record.image_id)
    scale = np.float32(record.width / frames[0].shape[1])
    return dataclasses.replace(
      record, regions=dataclasses.replace(regions, boxes_px=regions.boxes_px * scale)
    )

  def describe(self) -> dict[str, Any]:
    info: extracted_store.StoreInfo = _extractor(self.config, self.open_run).info()
    return {"name": NAME, "square": self.square, **info.recipe()}

  def _frames(self, record: records.Record) -> Sequence[np.ndarray]:
    if not self.found:
      return frames_of(record)
    segment = record.segment
    if record.image_id in self.found:
      return clips.read(self.found[record.image_id], record.frames).frames
    length = segment.duration or 1.0
    start, end = (segment.start / length, segment.end / length) if segment.duration else (0.0, 1.0)
    return clips.read(self.found[segment.video], record.frames, start, end).frames


def frames_of(record: records.Record) -> list[np.ndarray]:
  """The frames that a record carries side by side."""
  if not record.picture:
    raise errors.UserError(
      f"segment {record.image_id} carries no frames: give the folder of clips as --pictures=DIR"
    )
  with Image.open(io.BytesIO(record.picture)) as strip:
    joined = np.asarray(strip.convert("RGB"))
  return [np.ascontiguousarray(part) for part in np.split(joined, record.frames, axis=1)]


def are_wanted(source: reader.Reader, listed: Mapping[str, Sequence[str]]) -> bool:
  """Whether the dataset is of videos."""
  return _first(source, listed).segment is not None


def choose(
  folder: str,
  source: reader.Reader,
  listed: Mapping[str, Sequence[str]],
  most: int,
  config: region_extractor.ExtractionConfig,
  open_run: region_extractor.OpenRun,
) -> tuple[ClipRegions, dict[str, list[str]]]:
  """The source of regions, and the segments of each split that have a clip; others are counted.

  Args:
    folder: of clips; "" if the segments carry their frames.
    source: of the segments.
    listed: segments of each split.
    most: so many of each split at most; 0 is all.
    config: of the extraction.
    open_run: loads a run of our detector.
  """
  first = _first(source, listed)
  found, kept = {}, {split: list(ids) for split, ids in listed.items()}
  if folder:
    found = clips.find(folder)
    kept = {split: _with_clip(found, folder, split, ids) for split, ids in listed.items()}
    if not any(kept.values()):
      raise errors.UserError(
        f"{folder} holds no clip of {source.source}; name clips by segment ({first.image_id}) or "
        f"by video ({first.segment.video})"
      )
  elif not first.picture:
    raise errors.UserError("--regions=pictures needs the folder of clips: --pictures=DIR")
  square = first.width == first.height
  return (
    ClipRegions(config, open_run, found, square),
    {split: ids[: most or None] for split, ids in kept.items() if ids},
  )


def _first(source: reader.Reader, listed: Mapping[str, Sequence[str]]) -> records.Record:
  split = next((split for split, ids in listed.items() if ids), None)
  if split is None:
    raise errors.UserError(f"{source.source} has no picture in {', '.join(listed)}")
  return source.record(listed[split][0], split)


def _with_clip(
  found: Mapping[str, pathlib.Path], folder: str, split: str, ids: Sequence[str]
) -> list[str]:
  own = [each for each in ids if each in found or _video_of(each) in found]
  if len(own) < len(ids):
    logging.warning(
      "%s of %s segments of %s have no clip in %s and are left out",
      f"{len(ids) - len(own):,}", f"{len(ids):,}", split, folder,
    )  # fmt: skip
  return own


def _video_of(image_id: str) -> str:
  return image_id.rpartition("_segment_")[0]


@functools.lru_cache(maxsize=1)
def _extractor(
  config: region_extractor.ExtractionConfig, open_run: region_extractor.OpenRun
) -> region_extractor.RegionExtractor:
  """One detector a process."""
  return region_extractor.RegionExtractor(config, open_run)
