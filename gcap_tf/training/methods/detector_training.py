"""From annotated photographs to a trained detector in a run folder."""

import dataclasses
import functools
import pathlib
import sys
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import pipeline
from gcap_tf.evaluation import detector_evaluation
from gcap_tf.metrics import detection as detection_metrics
from gcap_tf.runs import detector_runs
from gcap_tf.text import object_words
from gcap_tf.training import computing, loop, optimizers, pictures, schedules
from gcap_tf.training.methods import detection
from gcap_tf.vision import (
  annotated_pictures,
  annotations,
  detection_batches,
  detector,
  folds,
  map_cache,
)
from gcap_tf.visuals import region_pictures

_SCHEDULE = schedules.ScheduleConfig("cosine", 3e-3, warmup_steps=200)
_OPTIMIZER = optimizers.OptimizerConfig(clip_at=10.0)
_SHOWN = 4


@dataclasses.dataclass(frozen=True)
class DetectorTrainingConfig:
  """Everything that changes the numbers of a detector's run.

  Attributes:
    model: sizes of the detector; its numbers of labels and colours follow from the data.
    backbone_weights: "imagenet", "none", or a file.
    losses: what is learned.
    fold: this fold of the training pictures is left out, for labels that are cross-fitted;
      -1 leaves none out.
    folds: number of folds.
    mirror: train on mirrored pictures too.
    batch_size: pictures of a step.
    epochs: passes over the pictures.
    max_steps: ends the run sooner than its epochs would; 0 does not.
    max_pictures: at most so many training pictures; 0 takes all.
    evaluate_every: steps between validations; 0 validates at the end of every epoch.
    early_stop: not used; the last weights are kept.
    seed: of initial weights, order, mirroring, shaking and dropout.
    schedule, optimizer: how.
    compute: on what.
  """

  model: detector.DetectorConfig = dataclasses.field(default_factory=detector.DetectorConfig)
  backbone_weights: str = "imagenet"
  losses: detection.DetectionConfig = dataclasses.field(default_factory=detection.DetectionConfig)
  fold: int = -1
  folds: int = folds.FOLDS
  mirror: bool = True
  batch_size: int = 16
  epochs: int = 6
  max_steps: int = 0
  max_pictures: int = 0
  evaluate_every: int = 2000
  early_stop: int = 0
  seed: int = 1
  schedule: schedules.ScheduleConfig = _SCHEDULE
  optimizer: optimizers.OptimizerConfig = _OPTIMIZER
  compute: computing.ComputeConfig = dataclasses.field(default_factory=computing.ComputeConfig)


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


def train(
  sources: Sources, config: DetectorTrainingConfig, folder: files.PathLike
) -> dict[str, float]:
  """Trains (or goes on training) a detector; returns its last validation figures."""
  classes = object_words.ObjectClasses.load(sources.object_classes)
  sizes = {"labels": len(classes.names), "colours": len(annotations.COLOURS)}
  config = dataclasses.replace(config, model=dataclasses.replace(config.model, **sizes))
  _check(config)
  keras.utils.set_random_seed(config.seed)
  model = detector.Detector(config.model, config.backbone_weights)
  detector_runs.write_config(
    folder,
    config.model,
    classes.names,
    annotations.COLOURS,
    {
      "backbone_weights": config.backbone_weights,
      "training": configs.to_dict(config),
      "sources": dataclasses.asdict(sources),
      "command": " ".join(sys.argv),
    },
  )
  pictures.write_options(folder, config)
  with pipeline.clear_errors():
    batches = _batches(sources, config, classes, model)
    trainer = _ValidatedTrainer(model, config, _validation(sources, config, classes, model))
    loop_config = loop.of_run(config, batches.steps_per_epoch, config.max_steps)
    return loop.train(trainer, batches, loop_config, folder, label="training the detector")


def _check(config: DetectorTrainingConfig) -> None:
  if config.fold >= config.folds:
    raise errors.UserError(f"fold {config.fold} of {config.folds} does not exist; they start at 0")
  if config.model.size % 32:
    raise errors.UserError(f"model.size is {config.model.size}; choose a multiple of 32")


def _batches(sources, config, classes, model) -> detection_batches.DetectionBatches:
  """Batches of the fold; the cache holds all pictures, so that folds can share it."""
  read, paths = annotated_pictures.read(
    sources.source, sources.pictures, "train", classes, max_pictures=config.max_pictures
  )
  cache = map_cache.MapCache(
    pathlib.Path(sources.cache) / "train",
    model.backbone,
    [picture.image_id for picture in read],
    paths,
    config.model.size,
    2 if config.mirror else 1,
  ).fill()
  learned = [
    picture
    for picture in read
    if len(picture.boxes)
    and (config.fold < 0 or folds.fold(picture.image_id, config.folds) != config.fold)
  ]
  if len(learned) < config.batch_size:
    raise errors.UserError(
      f"{len(learned)} pictures with boxes are fewer than a batch of {config.batch_size}"
    )
  return detection_batches.DetectionBatches(cache, learned, config.batch_size, config.seed)


@dataclasses.dataclass(frozen=True)
class _Validation:
  cache: map_cache.MapCache
  pictures: list[annotations.Picture]
  paths: list[pathlib.Path]
  labels: tuple[str, ...]


def _validation(sources, config, classes, model) -> _Validation | None:
  try:
    read, paths = annotated_pictures.read(sources.source, sources.pictures, "val", classes)
  except errors.UserError:  # No such split, or no photograph of it: nothing to judge.
    return None
  ids = [picture.image_id for picture in read]
  folder = pathlib.Path(sources.cache) / "val"
  cache = map_cache.MapCache(folder, model.backbone, ids, paths, config.model.size, 1).fill()
  return _Validation(cache, read, paths, classes.names)


class _ValidatedTrainer(detection.DetectionTrainer):
  def __init__(
    self, model: detector.Detector, config: DetectorTrainingConfig, validation: _Validation | None
  ):
    super().__init__(model.head, config.losses)
    self._validation = validation
    self._shown: list[detector_evaluation.Answer] = []

  def evaluate(self) -> dict[str, float]:
    if self._validation is None:
      return {}
    judged, self._shown = [], []
    for row, picture in enumerate(self._validation.pictures):
      batch = self._validation.cache.read(np.array([row]), np.array([0]))
      said = detector_evaluation.answer(*self._look(batch, tf.constant(picture.boxes[None])))
      judged.append(detector_evaluation.judge(picture, said))
      if row < _SHOWN:
        self._shown.append(said)
    return detection_metrics.figures(judged)

  def pictures(self) -> dict[str, Any]:
    shown = zip(self._shown, self._validation.pictures, self._validation.paths, strict=False)
    return {
      f"regions/{picture.image_id}": np.asarray(
        region_pictures.of_answer(path, said, self._validation.labels, picture.boxes)
      )
      for said, picture, path in shown
    }

  @functools.partial(tf.function, reduce_retracing=True)
  def _look(self, batch, boxes):
    maps, content = detection.maps_of(batch), batch["content"]
    small = tf.cast(batch["picture"], tf.float32)
    found = self.model.propose(maps, content, detection_metrics.MANY)
    found |= self.model.name_regions(maps, small, found["boxes"], content)
    return found, self.model.name_regions(maps, small, boxes, content)
