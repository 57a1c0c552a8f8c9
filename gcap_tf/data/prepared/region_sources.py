"""Sources of regions: a simulated detector, a store, the dataset itself."""

import dataclasses
from typing import Any

import numpy as np

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.prepared import shard_jobs
from gcap_tf.data.readers import datasets
from gcap_tf.data.stores import simulated_detector, store_formats

PERFECT, NOISY, OWN, PICTURES = "perfect", "noisy", "source", "pictures"


@dataclasses.dataclass(frozen=True)
class PerfectRegions:
  """The annotated boxes with their words; see `simulated_detector.perfect`."""

  max_regions: int = 0

  def add(self, record: records.Record) -> records.Record:
    regions = simulated_detector.perfect(record, self.max_regions or None)
    return dataclasses.replace(record, regions=regions)

  def describe(self) -> dict[str, Any]:
    return {"name": PERFECT, "max_regions": self.max_regions}


@dataclasses.dataclass(frozen=True)
class NoisyRegions:
  """Proposals of a simulated detector; see `simulated_detector.noisy`."""

  config: simulated_detector.NoisyConfig

  def add(self, record: records.Record) -> records.Record:
    return dataclasses.replace(record, regions=simulated_detector.noisy(record, self.config))

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
class PictureRegions:
  """Regions that `picture_regions` extracted from the dataset's photographs."""

  stored: StoredRegions

  def add(self, record: records.Record) -> records.Record:
    return self.stored.add(record)

  def describe(self) -> dict[str, Any]:
    return {"name": PICTURES, **self.stored.store.info.recipe()}


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
    position_blocks=cut(regions.position_blocks),
  )


def choose(
  name: str, dataset: str, noisy: simulated_detector.NoisyConfig, max_regions: int
) -> shard_jobs.RegionSource:
  """The source that a user named.

  Args:
    name: "perfect", "noisy", "source", the path of a store, or "" for the dataset's usual.
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
  return StoredRegions(store_formats.open_store(name), max_regions)
