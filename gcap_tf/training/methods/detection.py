"""Training our detector: proposals at cells, and the second stage on shaken boxes.

    L = w_q quality focal + w_o overlap + w_n naming(cells)
        + w_l naming(words) + w_c naming(colours)

The second stage sees the annotated boxes with their edges moved at random by about a tenth of their
sides, as found boxes never fit exactly. Nothing flows from it into the proposer. If the detector
has a network that names cells, the cells of a box learn the words of the box.
"""

import dataclasses
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import pipeline
from gcap_tf.evaluation import detector_validation
from gcap_tf.layers import dropout
from gcap_tf.losses import detection
from gcap_tf.runs import detector_runs
from gcap_tf.text import object_words
from gcap_tf.training import (
  contract,
  detector_data,
  loop,
  loop_options,
  optimizers,
  replicas,
  run_files,
  schedules,
)
from gcap_tf.vision import (
  annotations,
  assignment,
  canvas,
  detector,
  folds,
  map_cache,
  overlaps,
  region_vectors,
)

_SHAKE_SALT = 501
NAMED = 16  # Boxes of a picture that the second stage learns in a step; they come shuffled.


@dataclasses.dataclass(frozen=True)
class DetectionLosses:
  """Weights of the losses.

  Attributes:
    quality_weight: w_q.
    overlap_weight: w_o.
    label_weight: w_l.
    colour_weight: w_c.
    cell_weight: w_n.
    shake: deviation of a moved edge, as a share of the box's side.
  """

  quality_weight: configs.Weight = 4.0
  overlap_weight: configs.Weight = 2.0
  label_weight: configs.Weight = 1.0
  colour_weight: configs.Weight = 0.3
  cell_weight: configs.Weight = 1.0
  shake: configs.Weight = 0.12


@dataclasses.dataclass(frozen=True, kw_only=True)
class DetectorTrainingConfig(loop_options.LoopOptions):
  """Everything that changes the numbers of a detector's run.

  Attributes:
    model: sizes of the detector; its numbers of labels and colours follow from the data.
    backbone_weights: "imagenet", "none", or a file.
    losses: weights of the losses.
    fold: this fold of the training pictures is left out, for labels that are cross-fitted;
      -1 leaves none out.
    folds: number of folds.
    proposer: a detector's run whose backbone and proposer are kept as they are: only words and
      colours are learned, from nothing; "" learns all.
    views: of each picture: itself, mirrored, cut out, shrunk (`vision/picture_views.py`).
    tuned_rate: factor of the learning rate of the backbone's layers.
    batch_size: pictures of a step.
    max_pictures: at most so many training pictures; 0 takes all.
  """

  model: detector.DetectorConfig = dataclasses.field(default_factory=detector.DetectorConfig)
  backbone_weights: str = "imagenet"
  losses: DetectionLosses = dataclasses.field(default_factory=DetectionLosses)
  fold: configs.CountOrNone = -1
  folds: configs.PositiveInt = folds.FOLDS
  proposer: str = ""
  views: configs.PositiveInt = 2
  tuned_rate: configs.Weight = 0.1
  batch_size: configs.PositiveInt = 16
  max_pictures: configs.Count = 0
  epochs: configs.PositiveInt = 6
  evaluate_every: configs.Count = 2000
  schedule: schedules.ScheduleConfig = dataclasses.field(
    default_factory=lambda: schedules.ScheduleConfig("cosine", 3e-3, warmup_steps=200)
  )
  optimizer: optimizers.OptimizerConfig = dataclasses.field(
    default_factory=lambda: optimizers.OptimizerConfig(clip_at=10.0)
  )


class DetectionTrainer(contract.Trainer):
  """Losses of a detector on cached maps.

  Args:
    model: what is learned, see its `learned`.
    config: weights.
    validation: judges the detector; None leaves it out.
  """

  # No such figure: the last weights are kept, so that no validation picture chooses them.
  best_metric = "step"

  def __init__(
    self,
    model: detector.Detector,
    config: DetectionLosses,
    validation: detector_validation.Validation | None = None,
  ):
    self.model, self.config, self._validation = model.learned, config, validation
    self._detector, self._head = model, model.head
    self._proposes = model.head.proposer.trainable
    limits = assignment.size_limits(self._head.points.numpy(), self._head.config.size)
    self._limits = tuple(tf.constant(limit) for limit in limits)

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    maps = self._detector.maps(map_cache.maps_of(batch))
    boxes = canvas.to_canvas(batch["boxes"], batch["content"])
    naming = self._naming_losses(maps, batch, boxes, seed)
    return {**self._proposal_losses(maps, batch, boxes), **naming} if self._proposes else naming

  def counted(self, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    named = {
      loss: tf.reduce_any(batch[key][:, :NAMED] > 0, -1)
      for loss, key in (("label", "words"), ("colour", "colours"))
    }
    if not self._proposes:
      return named
    boxes = canvas.to_canvas(batch["boxes"], batch["content"])
    _, positive = self._assign(boxes, batch["box_mask"])
    if self._head.cell_namer is not None:
      named["cells"] = positive
    return {"quality": positive, "overlap": positive, **named}

  def evaluate(self) -> dict[str, float]:
    return {} if self._validation is None else self._validation.judge()

  def pictures(self) -> dict[str, Any]:
    return {} if self._validation is None else self._validation.draw()

  def _assign(self, boxes: tf.Tensor, box_mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return assignment.assign(boxes, box_mask, self._head.points, self._limits)

  def _proposal_losses(self, maps, batch, boxes):
    config = self.config
    found = self._head(maps, training=True)
    rows, positive = self._assign(boxes, batch["box_mask"])
    overlap, generalised = overlaps.matched(found["boxes"], tf.gather(boxes, rows, batch_dims=1))
    quality = tf.where(positive, tf.stop_gradient(overlap), 0.0)
    count = tf.maximum(tf.reduce_sum(tf.cast(positive, tf.float32)), 1.0)
    counted = self._head.on_picture(batch["content"])
    focal = detection.quality_focal(found["logits"], quality, counted) / count
    apart = detection.overlap(generalised, positive) / count
    losses = {
      "quality": config.quality_weight * replicas.share(focal, positive, "quality"),
      "overlap": config.overlap_weight * replicas.share(apart, positive, "overlap"),
    }
    if self._head.cell_namer is not None:
      words = tf.boolean_mask(tf.gather(batch["words"], rows, batch_dims=1), positive)
      logits = self._head.cell_namer(tf.boolean_mask(found["vectors"], positive))
      mean = detection.naming(logits, words)
      losses["cells"] = config.cell_weight * replicas.share(mean, positive, "cells")
    return losses

  def _naming_losses(self, maps, batch, boxes, seed):
    config, content = self.config, batch["content"]
    shaken = shake(boxes[:, :NAMED], content, config.shake, dropout.derive(seed, _SHAKE_SALT))
    picture = tf.cast(batch["picture"], tf.float32)
    vectors = region_vectors.vectors(maps, picture, shaken, content)
    vectors, words, colours = (
      tf.boolean_mask(rows[:, :NAMED], batch["box_mask"][:, :NAMED])
      for rows in (vectors, batch["words"], batch["colours"])
    )
    logits = self._head.namer(vectors, seed)
    losses = {}
    for name, counts, weight in (
      ("label", words, config.label_weight),
      ("colour", colours, config.colour_weight),
    ):
      mean = detection.naming(logits[name], counts)
      losses[name] = weight * replicas.share(mean, tf.reduce_any(counts > 0, -1), name)
    return losses


def _slow_backbone(
  config: DetectorTrainingConfig, model: detector.Detector
) -> DetectorTrainingConfig:
  """The options with a lower rate for the tuned layers."""
  tuned = tuple(variable.path for layer in model.learned.tuned for variable in layer.weights)
  if not tuned:
    return config
  optimizer = dataclasses.replace(config.optimizer, slow=tuned, slow_factor=config.tuned_rate)
  return dataclasses.replace(config, optimizer=optimizer)


def _keep_proposer(model: detector.Detector, start: detector_runs.DetectorRun) -> None:
  """Gives a new detector the backbone and proposer of a finished one, which no longer change."""
  model.backbone.set_weights(start.detector.backbone.get_weights())
  model.head.proposer.set_weights(start.detector.head.proposer.get_weights())
  model.head.proposer.trainable = False


def shake(boxes: tf.Tensor, content: tf.Tensor, deviation: float, seed: tf.Tensor) -> tf.Tensor:
  """Moves every edge of boxes [B, N, 4] of the canvas by a normal share of the box's side."""
  sides = boxes[..., 2:] - boxes[..., :2]
  moved = boxes + deviation * tf.concat([sides, sides], -1) * tf.random.stateless_normal(
    tf.shape(boxes), seed
  )
  low = tf.minimum(moved[..., :2], moved[..., 2:])
  high = tf.maximum(moved[..., :2], moved[..., 2:])
  corner = tf.concat([content, content], -1)[:, None]
  return tf.clip_by_value(tf.concat([low, high], -1), 0.0, corner)


@run_files.alone
def train(
  sources: detector_data.Sources,
  config: DetectorTrainingConfig,
  folder: files.PathLike,
  override: bool = False,
) -> dict[str, float]:
  """Trains a detector, or continues to; returns its last validation figures."""
  configs.check(config)
  if config.model.size % 32:
    raise errors.UserError(f"model.size is {config.model.size}; choose a multiple of 32")
  classes = object_words.ObjectClasses.load(sources.object_classes)
  sizes = {"labels": len(classes.names), "colours": len(annotations.COLOURS)}
  start = detector_runs.load(config.proposer) if config.proposer else None
  shape = start.detector.config if start else config.model
  if start and shape.tuned_stride:
    raise errors.UserError(
      f"{start.folder} has learned layers of its backbone; its boxes cannot be kept"
    )
  config = dataclasses.replace(config, model=dataclasses.replace(shape, **sizes))
  if start:
    weights = start.config.get("backbone_weights", detector_runs.IMAGENET)
    config = dataclasses.replace(config, backbone_weights=weights)
  keras.utils.set_random_seed(config.seed)
  model = detector.Detector(config.model, "none" if start else config.backbone_weights)
  if start:
    _keep_proposer(model, start)
  words = {"labels": classes.names, "colours": annotations.COLOURS}
  record = run_files.check_detector(
    folder, model.learned, config.model, words, config, sources, override
  )
  if start:
    detector_runs.copy_backbone(start.folder, folder)
  fields = {field.name for field in dataclasses.fields(detector_data.Selection)}
  chosen = detector_data.Selection(**{name: getattr(config, name) for name in fields})
  with pipeline.clear_errors():
    batches = detector_data.training_batches(sources, chosen, classes, model)
    validation = detector_data.validation(sources, classes, model)
    trainer = DetectionTrainer(model, config.losses, validation)
    loop_config = loop.from_options(_slow_backbone(config, model), batches.steps_per_epoch)
    return loop.train(trainer, batches, loop_config, folder, "training the detector", record)
