"""Regions of a dataset's own photographs: extracted into a store, then read from it.

The store is next to the prepared folder (OUT.regions) and stays: a preparation that was stopped
goes on with what it has, and `trainers.caption --regions` reads it too.
"""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence

from absl import logging

from gcap_tf import errors, files
from gcap_tf.data.prepared import region_sources
from gcap_tf.data.stores import feature_folders
from gcap_tf.vision import pictures
from gcap_tf.vision.extraction import local, region_extractor

REGIONS = 36
_TRAIN = "train"


def present(
  folder: files.PathLike, listed: Mapping[str, Sequence[str]], max_images: int = 0
) -> dict[str, dict[str, pathlib.Path]]:
  """Picture files by id of each split; pictures without a file are counted and left out.

  Args:
    folder: of photographs, named by the pictures' ids.
    listed: picture ids of each split.
    max_images: at most so many of each split; 0 is all.
  """
  if not folder:
    raise errors.UserError("--regions=pictures needs the folder of photographs: --pictures=DIR")
  known, found = by_id(folder), {}
  for split, ids in listed.items():
    own = [image_id for image_id in ids if image_id in known]
    if len(own) < len(ids):
      logging.warning(
        "%s of %s %s pictures are not in %s and are left out",
        f"{len(ids) - len(own):,}",
        f"{len(ids):,}",
        split,
        folder,
      )
    if own:
      found[split] = {image_id: known[image_id] for image_id in own[: max_images or None]}
  if not found:
    raise errors.UserError(f"{folder} holds no picture of the dataset; files are named by its ids")
  return found


def extract(
  found: Mapping[str, Mapping[str, pathlib.Path]],
  out: files.PathLike,
  config: region_extractor.ExtractionConfig,
  open_run: region_extractor.OpenRun,
  workers: int = 0,
) -> tuple[region_sources.PictureRegions, dict[str, list[str]]]:
  """Extracts the regions of pictures into the store OUT.regions.

  Args:
    found: picture files by id of each split.
    out: the prepared folder.
    config: of the extraction; with folds, the train split is cross-fitted.
    open_run: loads a run of our detector.
    workers: processes; 0 is one a core.

  Returns:
    the source of regions, and the pictures of each split that could be read.
  """
  store = pathlib.Path(f"{out}.regions")
  if config.folds:
    names = store.with_name(f"{store.name}.train_ids.txt")
    files.write_text(names, "\n".join(found.get(_TRAIN, ())) + "\n")
    config = dataclasses.replace(config, train_ids=str(names))
  every = {image_id: path for own in found.values() for image_id, path in own.items()}
  done = local.extract(every, store, config, open_run, workers)
  for problem in done.problems:
    logging.warning("left out: %s", problem)
  stored = region_sources.StoredRegions(feature_folders.FolderStore(store))
  kept = {
    split: [image_id for image_id in own if image_id in stored.store]
    for split, own in found.items()
  }
  return region_sources.PictureRegions(stored), {split: ids for split, ids in kept.items() if ids}


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
