"""Regions of a dataset's own photographs: extracted into a store, then read from it.

Train records whose photograph is not there can get regions of their annotated boxes instead
(`labelled_regions`), or regions of other photographs (`borrowed_regions`).

The store is next to the prepared folder (OUT.regions) and stays: a preparation that was stopped
goes on with what it has, and `trainers.caption --regions` reads it too.
"""

import dataclasses
import pathlib
from collections.abc import Iterable, Mapping, Sequence

from absl import logging

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.prepared import borrowed_regions, labelled_regions, region_sources
from gcap_tf.data.stores import feature_folders
from gcap_tf.text import object_words
from gcap_tf.vision import annotations, pictures
from gcap_tf.vision import regions as vision_regions
from gcap_tf.vision.extraction import local, region_extractor

REGIONS = 36
LEAVE_OUT, LABELS, BORROW = "leave_out", "labels", "borrow"
TRAIN = "train"

Found = Mapping[str, Mapping[str, pathlib.Path | None]]


def present(
  folder: files.PathLike,
  listed: Mapping[str, Sequence[str]],
  max_images: int = 0,
  without_pictures: str = LEAVE_OUT,
) -> Found:
  """Picture files by id of each split; pictures without a file are counted.

  Args:
    folder: of photographs, named by the pictures' ids.
    listed: picture ids of each split.
    max_images: at most so many of each split; 0 is all.
    without_pictures: "leave_out" leaves them out; others keep those of the train split, whose
      file is None.
  """
  if not folder:
    raise errors.UserError("--regions=pictures needs the folder of photographs: --pictures=DIR")
  known, found = by_id(folder), {}
  for split, ids in listed.items():
    kept = without_pictures != LEAVE_OUT and split == TRAIN
    missing = [image_id for image_id in ids if image_id not in known]
    if missing:
      logging.warning(
        "%s of %s %s pictures are not in %s and %s",
        f"{len(missing):,}",
        f"{len(ids):,}",
        split,
        folder,
        "get regions by their annotated boxes" if kept else "are left out",
      )
    own = [image_id for image_id in ids if kept or image_id in known]
    if own:
      found[split] = {image_id: known.get(image_id) for image_id in own[: max_images or None]}
  if not any(path for own in found.values() for path in own.values()):
    raise errors.UserError(f"{folder} holds no picture of the dataset; files are named by its ids")
  return found


def extract(
  found: Found,
  out: files.PathLike,
  config: region_extractor.ExtractionConfig,
  open_run: region_extractor.OpenRun,
  workers: int = 0,
) -> tuple[region_sources.PictureRegions, dict[str, list[str]]]:
  """Extracts the regions of pictures into the store OUT.regions.

  Args:
    found: picture files by id of each split; None is a picture without a file, which stays.
    out: the prepared folder.
    config: of the extraction; with folds, the train split is cross-fitted.
    open_run: loads a run of our detector.
    workers: processes; 0 is one a core.

  Returns:
    the source of regions, and the pictures of each split that could be read or have no file.
  """
  store = pathlib.Path(f"{out}.regions")
  every = {image_id: path for own in found.values() for image_id, path in own.items() if path}
  if config.folds:
    names = store.with_name(f"{store.name}.train_ids.txt")
    train = [image_id for image_id in found.get(TRAIN, ()) if image_id in every]
    files.write_text(names, "\n".join(train) + "\n")
    config = dataclasses.replace(config, train_ids=str(names))
  done = local.extract(every, store, config, open_run, workers)
  for problem in done.problems:
    logging.warning("left out: %s", problem)
  stored = region_sources.StoredRegions(feature_folders.FolderStore(store))
  kept = {
    split: [image_id for image_id, path in own.items() if path is None or image_id in stored.store]
    for split, own in found.items()
  }
  return region_sources.PictureRegions(stored), {split: ids for split, ids in kept.items() if ids}


def with_labels(
  regions: region_sources.PictureRegions,
  without_picture: Sequence[str],
  train: Iterable[records.Record],
  config: region_extractor.ExtractionConfig,
  open_run: region_extractor.OpenRun,
  labelled: labelled_regions.LabelledConfig,
) -> region_sources.PictureRegions:
  """The source of regions that also serves train records without a photograph.

  Args:
    regions: of the other records.
    without_picture: ids of the records without one.
    train: every train record; they say how frequent labels are.
    config: of the extraction, whose detector standardises.
    open_run: loads a run of our detector.
    labelled: how sure and how exact the regions are.
  """
  info = regions.stored.store.info
  classes = object_words.ObjectClasses(info.labels)
  counted = (annotations.of_record(record, classes) for record in train)
  return dataclasses.replace(
    regions,
    labelled=labelled_regions.LabelledRegions(
      info,
      classes,
      _standard(config, open_run),
      labelled_regions.frequencies(counted, len(info.labels)),
      labelled,
    ),
    without_picture=len(without_picture),
  )


def with_borrowed(
  regions: region_sources.PictureRegions,
  photographs: Iterable[records.Record],
  config: borrowed_regions.BorrowConfig,
) -> region_sources.PictureRegions:
  """The source of regions whose records without a photograph borrow from the others.

  Args:
    regions: with labels.
    photographs: train records that have a photograph.
    config: which regions are borrowed.
  """
  labelled, store = regions.labelled, regions.stored.store
  found = [annotations.of_record(record, labelled.classes) for record in photographs]
  bank = borrowed_regions.bank(
    found,
    (borrowed_regions.regions_of(store, picture.image_id)[1] for picture in found),
    len(labelled.info.labels),
  )
  return dataclasses.replace(
    regions, labelled=borrowed_regions.BorrowedRegions(labelled, bank, store, config)
  )


def _standard(
  config: region_extractor.ExtractionConfig, open_run: region_extractor.OpenRun
) -> labelled_regions.Standard:
  """How the detector that describes the pictures standardises."""
  detector = open_run(config.main).detector
  mean, deviation = vision_regions.RegionMaker(detector).standard_of("geometry")
  return labelled_regions.Standard(
    detector.config.size,
    mean.numpy(),
    deviation.numpy(),
    vision_regions.LIMIT,
    vision_regions.SCALE,
  )


def by_id(folder: files.PathLike) -> dict[str, pathlib.Path]:
  """Picture files by every id that they may stand for.

  COCO_val2014_000000391895.jpg -> that name without its ending, "000000391895" and "391895"
  """
  found = {}
  for stem, path in pictures.find(folder).items():
    last = stem.rpartition("_")[2]
    for image_id in (stem, last, last.lstrip("0")):
      found.setdefault(image_id, path)
  return found
