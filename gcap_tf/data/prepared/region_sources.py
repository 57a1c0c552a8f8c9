"""Sources of regions: a simulated detector, a store, the dataset itself."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.prepared import borrowed_regions, labelled_regions, shard_jobs
from gcap_tf.data.readers import datasets
from gcap_tf.data.stores import (
  gvd_video_store,
  simulated_detector,
  simulated_frames,
  store_formats,
)

PERFECT, NOISY, OWN, PICTURES, NONE = "perfect", "noisy", "source", "pictures", "none"
NAMED_FILES = 10  # missing files that are named, at most

Listed = dict[str, Sequence[str]]


@dataclasses.dataclass(frozen=True)
class PerfectRegions:
  """The annotated boxes with their words; see `simulated_detector.perfect`."""

  max_regions: int = 0

  def add(self, record: records.Record) -> records.Record:
    regions = simulated_frames.perfect(record, self.max_regions or None)
    return dataclasses.replace(record, regions=regions)

  def describe(self) -> dict[str, Any]:
    return {"name": PERFECT, "max_regions": self.max_regions}


@dataclasses.dataclass(frozen=True)
class NoisyRegions:
  """Proposals of a simulated detector; see `simulated_detector.noisy`."""

  config: simulated_detector.NoisyConfig

  def add(self, record: records.Record) -> records.Record:
    return dataclasses.replace(record, regions=simulated_frames.noisy(record, self.config))

  def describe(self) -> dict[str, Any]:
    return {"name": NOISY, **configs.to_dict(self.config)}


@dataclasses.dataclass(frozen=True)
class StoredRegions:
  """Features that a detector wrote before; the store may know the picture's size as well."""

  store: store_formats.RegionStore
  max_regions: int = 0

  def add(self, record: records.Record) -> records.Record:
    width, height = record.width, record.height
    if not (width and height):
      width, height = self.store.size(record.image_id)
    found = self.store.get(record.image_id, width, height)
    regions = first_regions(found, self.max_regions)
    return dataclasses.replace(record, regions=regions, width=width, height=height)

  def describe(self) -> dict[str, Any]:
    found = {"name": "store", "path": str(self.store.path), "max_regions": self.max_regions}
    info = getattr(self.store, "info", None)
    return found if info is None else found | info.recipe(self.max_regions)


@dataclasses.dataclass(frozen=True)
class VideoRegions(StoredRegions):
  """Regions of the frames of segments, and features of all frames of their videos."""

  store: gvd_video_store.GVDVideoStore

  def add(self, record: records.Record) -> records.Record:
    regions = first_regions(self.store.get(record.image_id), self.max_regions)
    found = self.store.frame_features(record.image_id)
    if found is not None:
      frames, count = found
      regions = dataclasses.replace(
        regions,
        grid_features=frames,
        global_feature=frames.mean(0),
        span=gvd_video_store.span(record.segment, count),
      )
    return dataclasses.replace(record, regions=regions)


@dataclasses.dataclass(frozen=True)
class NoRegions:
  """Captions and references alone."""

  def add(self, record: records.Record) -> records.Record:
    return dataclasses.replace(record, regions=records.Regions())

  def describe(self) -> dict[str, Any]:
    return {"name": NONE}


@dataclasses.dataclass(frozen=True)
class PictureRegions:
  """Regions that `picture_regions` extracted from the dataset's photographs.

  Attributes:
    stored: the extracted regions.
    labelled: makes those of train records without a photograph, from labels or from regions of
      other photographs; None if there are none.
    without_picture: how many records that are.
  """

  stored: StoredRegions
  labelled: labelled_regions.LabelledRegions | borrowed_regions.BorrowedRegions | None = None
  without_picture: int = 0

  def add(self, record: records.Record) -> records.Record:
    if self.labelled is None or record.image_id in self.stored.store:
      return self.stored.add(record)
    return dataclasses.replace(record, regions=self.labelled.of(record))

  def describe(self) -> dict[str, Any]:
    found = {"name": PICTURES, **self.stored.store.info.recipe()}
    if self.labelled is not None:
      found["labelled"] = {"records": self.without_picture, **self.labelled.describe()}
    return found


@dataclasses.dataclass(frozen=True)
class OwnRegions:
  """Regions that come with the dataset."""

  max_regions: int = 0

  def add(self, record: records.Record) -> records.Record:
    if record.regions is None:
      raise errors.UserError(f"picture {record.image_id} has no regions")
    return dataclasses.replace(record, regions=first_regions(record.regions, self.max_regions))

  def describe(self) -> dict[str, Any]:
    return {"name": OWN, "max_regions": self.max_regions}


def first_regions(regions: records.Regions, count: int) -> records.Regions:
  """At most `count` regions, the first; 0 keeps all."""
  if not count:
    return regions

  def cut(rows: np.ndarray | None) -> np.ndarray | None:
    return None if rows is None else rows[:count]

  return dataclasses.replace(
    regions,
    boxes_px=cut(regions.boxes_px),
    features=cut(regions.features),
    labels=regions.labels[:count],
    colours=regions.colours[:count],
    scores=cut(regions.scores),
    frame=cut(regions.frame),
    position_blocks=cut(regions.position_blocks),
  )


def choose(
  name: str, dataset: str, noisy: simulated_detector.NoisyConfig, max_regions: int
) -> shard_jobs.RegionSource:
  """The source that a user named.

  Args:
    name: "perfect", "noisy", "source", "none", the path of a store, or "" for the dataset's usual.
    dataset: name of the dataset.
    noisy: options of the noisy detector.
    max_regions: the most regions per picture; 0 keeps all.
  """
  entry = datasets.DATASETS.get(dataset)
  name = name or (OWN if entry.own_regions else PERFECT)
  if name in (PERFECT, NOISY) and not entry.annotated:
    raise errors.UserError(
      f"--regions={name} needs annotated boxes, which {dataset} does not have; "
      "give the folder of its region features as --regions=DIR"
    )
  if name == PERFECT:
    return PerfectRegions(max_regions)
  if name == NOISY:
    return NoisyRegions(noisy)
  if name == OWN:
    if not entry.own_regions:
      raise errors.UserError(
        f"--regions={OWN}: {dataset} has no regions; choose perfect, noisy or a folder"
      )
    return OwnRegions(max_regions)
  if name == NONE:
    return NoRegions()
  store = store_formats.open_store(name)
  of_videos = isinstance(store, gvd_video_store.GVDVideoStore)
  return (VideoRegions if of_videos else StoredRegions)(store, max_regions)


def readable(source: shard_jobs.RegionSource, listed: Mapping[str, Sequence[str]]) -> Listed:
  """The records of each split whose feature files are there; others are counted and named.

  Only stores of videos are known to lack files; other sources report a missing one when it is read.
  """
  if not isinstance(source, VideoRegions):
    return dict(listed)
  kept = {}
  for split, ids in listed.items():
    missing = source.store.missing(ids)
    if missing:
      files = list(dict.fromkeys(missing.values()))
      logging.warning(
        "%s of %s segments of %s are left out, since %s missing: %s%s",
        f"{len(missing):,}",
        f"{len(ids):,}",
        split,
        "a file is" if len(files) == 1 else f"{len(files):,} files are",
        ", ".join(files[:NAMED_FILES]),
        ", ..." if len(files) > NAMED_FILES else "",
      )
    kept[split] = [image_id for image_id in ids if image_id not in missing]
  if not any(kept.values()):
    raise errors.UserError(f"{source.store.path} has the features of no segment of the dataset")
  return {split: ids for split, ids in kept.items() if ids}
