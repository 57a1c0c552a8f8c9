"""The data of a detector's training: batches of cached maps, and pictures to validate on."""

import dataclasses
import hashlib
import pathlib

from gcap_tf import errors
from gcap_tf.evaluation import detector_validation
from gcap_tf.text import object_words
from gcap_tf.vision import annotated_pictures, detection_batches, detector, folds, map_cache


@dataclasses.dataclass(frozen=True)
class Sources:
  """Where the data is.

  Attributes:
    source: folder of Flickr30k Entities.
    pictures: folder of photographs.
    object_classes: file of object words, one a line.
    cache: folder of backbone maps.
  """

  source: str
  pictures: str
  object_classes: str
  cache: str

  def fingerprint(self) -> str:
    """Hash of the splits and of the names of the photographs, wherever their folders are."""
    splits = [pathlib.Path(self.source) / f"{split}.txt" for split in ("train", "val")]
    names = sorted(path.name for path in pathlib.Path(self.pictures).glob("*"))
    content = [path.read_text(encoding="utf-8") for path in splits if path.exists()] + names
    return hashlib.sha256("\n".join(content).encode()).hexdigest()[:16]


@dataclasses.dataclass(frozen=True)
class Selection:
  """Which pictures are learned, and how they are batched.

  Attributes:
    fold: this fold of the training pictures is left out, for labels that are cross-fitted;
      -1 leaves none out.
    folds: number of folds.
    views: of each picture (`vision/picture_views.py`).
    batch_size: pictures of a step.
    max_pictures: at most so many training pictures; 0 takes all.
    seed: of the order and of the views.
  """

  fold: int
  folds: int
  views: int
  batch_size: int
  max_pictures: int
  seed: int


def training_batches(
  sources: Sources,
  chosen: Selection,
  classes: object_words.ObjectClasses,
  model: detector.Detector,
) -> detection_batches.DetectionBatches:
  """Batches of the selection; the cache holds all pictures, so that folds can share it."""
  if chosen.fold >= chosen.folds:
    raise errors.UserError(f"fold {chosen.fold} of {chosen.folds} does not exist; they start at 0")
  read, paths = annotated_pictures.read(
    sources.source, sources.pictures, "train", classes, max_pictures=chosen.max_pictures
  )
  learned = [
    picture
    for picture in read
    if len(picture.boxes)
    and (chosen.fold < 0 or folds.fold(picture.image_id, chosen.folds) != chosen.fold)
  ]
  if len(learned) < chosen.batch_size:
    raise errors.UserError(
      f"{len(learned)} pictures with boxes are fewer than a batch of {chosen.batch_size}"
    )
  ids = [picture.image_id for picture in read]
  cache = _filled(sources, "train", model, ids, paths, chosen.views)
  return detection_batches.DetectionBatches(cache, learned, chosen.batch_size, chosen.seed)


def validation(
  sources: Sources, classes: object_words.ObjectClasses, model: detector.Detector
) -> detector_validation.Validation | None:
  """The val split; None if there is none, or no photograph of it."""
  try:
    read, paths = annotated_pictures.read(sources.source, sources.pictures, "val", classes)
  except errors.UserError:
    return None
  ids = [picture.image_id for picture in read]
  cache = _filled(sources, "val", model, ids, paths, 1)
  return detector_validation.Validation(model, cache, read, paths, classes.names)


def _filled(sources, split, model, ids, paths, views) -> map_cache.MapCache:
  folder = pathlib.Path(sources.cache) / split
  return map_cache.MapCache(folder, model.frozen, ids, paths, model.config.size, views).fill()
