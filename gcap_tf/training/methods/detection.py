"""Training our detector: proposals at cells, and the second stage on shaken boxes.

    L = w_q quality focal + w_o overlap + w_l naming(words) + w_c naming(colours)

The second stage sees the annotated boxes with their edges moved at random by about a tenth of their
sides, as found boxes never fit exactly. Nothing flows from it into the proposer.
"""

import dataclasses

import tensorflow as tf

from gcap_tf.layers import dropout
from gcap_tf.losses import detection
from gcap_tf.training import replicas, trainer
from gcap_tf.vision import assignment, canvas, detector, overlaps, region_vectors

_SHAKE_SALT = 501
NAMED = 16  # Boxes of a picture that the second stage learns in a step; they come shuffled.


@dataclasses.dataclass(frozen=True)
class DetectionConfig:
  """Weights of the losses, and how far edges are shaken (deviation, in sides of the box)."""

  quality_weight: float = 4.0
  overlap_weight: float = 2.0
  label_weight: float = 1.0
  colour_weight: float = 0.3
  shake: float = 0.12


class DetectionTrainer(trainer.Trainer):
  """Losses of a detector's head on cached maps.

  Args:
    head: what is learned.
    config: weights.
  """

  # No such figure: the last weights are kept, so that no validation picture chooses them.
  best_metric = "step"

  def __init__(self, head: detector.DetectorHead, config: DetectionConfig):
    self.model, self.config = head, config
    limits = assignment.size_limits(head.points.numpy(), head.config.size)
    self._limits = tuple(tf.constant(limit) for limit in limits)

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    maps = maps_of(batch)
    boxes = canvas.to_canvas(batch["boxes"], batch["content"])
    return {
      **self._proposal_losses(maps, batch, boxes),
      **self._naming_losses(maps, batch, boxes, seed),
    }

  def counted(self, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    boxes = canvas.to_canvas(batch["boxes"], batch["content"])
    _, positive = self._assign(boxes, batch["box_mask"])
    named = {
      loss: tf.reduce_any(batch[key][:, :NAMED] > 0, -1)
      for loss, key in (("label", "words"), ("colour", "colours"))
    }
    return {"quality": positive, "overlap": positive, **named}

  def _assign(self, boxes: tf.Tensor, box_mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return assignment.assign(boxes, box_mask, self.model.points, self._limits)

  def _proposal_losses(self, maps, batch, boxes):
    config = self.config
    found = self.model(maps, training=True)
    rows, positive = self._assign(boxes, batch["box_mask"])
    overlap, generalised = overlaps.matched(found["boxes"], tf.gather(boxes, rows, batch_dims=1))
    quality = tf.where(positive, tf.stop_gradient(overlap), 0.0)
    count = tf.maximum(tf.reduce_sum(tf.cast(positive, tf.float32)), 1.0)
    counted = self.model.on_picture(batch["content"])
    focal = detection.quality_focal(found["logits"], quality, counted) / count
    apart = detection.overlap(generalised, positive) / count
    return {
      "quality": config.quality_weight * replicas.share(focal, positive, "quality"),
      "overlap": config.overlap_weight * replicas.share(apart, positive, "overlap"),
    }

  def _naming_losses(self, maps, batch, boxes, seed):
    config, content = self.config, batch["content"]
    shaken = shake(boxes[:, :NAMED], content, config.shake, dropout.derive(seed, _SHAKE_SALT))
    picture = tf.cast(batch["picture"], tf.float32)
    vectors = region_vectors.vectors(maps, picture, shaken, content)
    vectors, words, colours = (
      tf.boolean_mask(rows[:, :NAMED], batch["box_mask"][:, :NAMED])
      for rows in (vectors, batch["words"], batch["colours"])
    )
    logits = self.model.namer(vectors, seed)
    losses = {}
    for name, counts, weight in (
      ("label", words, config.label_weight),
      ("colour", colours, config.colour_weight),
    ):
      mean = detection.naming(logits[name], counts)
      losses[name] = weight * replicas.share(mean, tf.reduce_any(counts > 0, -1), name)
    return losses


def maps_of(batch: dict[str, tf.Tensor]) -> dict[int, tf.Tensor]:
  """{stride: map in float32} of a batch of cached maps."""
  return {
    int(name.removeprefix("map_")): tf.cast(value, tf.float32)
    for name, value in batch.items()
    if name.startswith("map_")
  }


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
