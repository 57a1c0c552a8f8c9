"""Our detector: a photograph on its canvas to regions with words and colours.

    maps      = backbone(canvas)                   strides 8, 16, 32
    boxes     = proposer(maps), suppressed         objectness and a box at every cell
    names     = namer(region vectors of boxes)     words and colours, a second stage

The backbone comes with its own weights. What is learned is the head (`DetectorHead`) and, if
`tuned_stride` says so, the middle layers of the backbone. Training, checkpoints and the shipped
weights hold these alone (`LearnedPart`).

What is learned has seen annotated boxes and the words of phrases that point to them. No captioner
has: it sees regions, and never which word of a caption belongs to which box.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

import keras
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf.vision import (
  box_coding,
  canvas,
  colour_histogram,
  proposer,
  region_namer,
  region_vectors,
  suppression,
)
from gcap_tf.vision.backbones import base, catalog


@dataclasses.dataclass(frozen=True)
class DetectorConfig:
  """Attributes:
  backbone: name in the catalog.
  size: side of the canvas, pixels.
  labels, colours: numbers of classes.
  width, depth: of the proposer.
  units, dropout: of the namer.
  candidates: best cells that suppression looks at.
  threshold, sigma: of suppression.
  cell_units: hidden units of a network that names cells while the detector is trained, so that the
    proposer knows what a thing is; 0 has none. Detection does not use it.
  tuned_stride: layers of the backbone after its cut (see `backbones/base.py`) and up to the map of
    this stride are learned too; 0 learns none of them.
  """

  backbone: str = "lite0"
  size: configs.PositiveInt = canvas.SIZE
  labels: configs.PositiveInt = 480
  colours: configs.PositiveInt = 11
  width: configs.PositiveInt = 128
  depth: configs.Count = 3
  units: configs.PositiveInt = 512
  dropout: configs.Fraction = 0.3
  candidates: configs.PositiveInt = 1500
  threshold: configs.Fraction = 0.6
  sigma: configs.Weight = 3.0
  cell_units: configs.Count = 0
  tuned_stride: Literal[0, 8, 16, 32] = 0


@keras.saving.register_keras_serializable(package="gcap_tf")
class DetectorHead(keras.Model):
  """The learned part: maps to proposals, and regions to names.

  Args:
    config: a `DetectorConfig` or its dictionary.
    channels: {stride: channels} of the backbone's maps.
  """

  def __init__(self, config: DetectorConfig | dict, channels: dict[Any, int], **kwargs):
    super().__init__(**kwargs)
    self.config = _config(config)
    self.channels = {int(stride): int(count) for stride, count in channels.items()}
    strides = tuple(sorted(self.channels))
    c = self.config
    self.points = tf.constant(box_coding.points(c.size, strides))
    self.proposer = proposer.build(self.channels, c.size, c.width, c.depth)
    self.namer = region_namer.RegionNamer(
      region_vectors.size(self.channels), c.labels, c.colours, c.units, c.dropout, name="namer"
    )
    self.cell_namer = _cell_namer(c) if c.cell_units else None
    self.built = True

  def call(self, maps: dict[int, tf.Tensor], training: bool = False) -> dict[str, tf.Tensor]:
    """{"logits": [B, P], "boxes": [B, P, 4] of the canvas, "vectors": [B, P, width]} of cells."""
    found = self.proposer([maps[stride] for stride in sorted(maps)], training=training)
    boxes = box_coding.decode(found["codes"], self.points)
    return {"logits": found["logits"], "boxes": boxes, "vectors": found["vectors"]}

  def on_picture(self, content: tf.Tensor) -> tf.Tensor:
    """Cells whose centre is on the photograph: bool [B, P] for content [B, 2]."""
    return tf.reduce_all(self.points[:, :2] < content[:, None], -1)

  def propose(
    self, maps: dict[int, tf.Tensor], content: tf.Tensor, regions: int
  ) -> dict[str, tf.Tensor]:
    """The best regions: boxes [B, R, 4] of the picture, scores [B, R], region_mask [B, R]."""
    found, c = self(maps), self.config
    scores = tf.where(self.on_picture(content), tf.sigmoid(found["logits"]), 0.0)
    scores, rows = tf.math.top_k(scores, min(c.candidates, scores.shape[1]))
    boxes = canvas.to_picture(tf.gather(found["boxes"], rows, batch_dims=1), content)
    chosen, region_mask = suppression.suppress(boxes, scores, regions, c.threshold, c.sigma)
    real = tf.cast(region_mask, boxes.dtype)
    return {
      "boxes": tf.gather(boxes, chosen, batch_dims=1) * real[..., None],
      "scores": tf.gather(scores, chosen, batch_dims=1) * real,
      "region_mask": region_mask,
    }

  def name_regions(
    self, maps: dict[int, tf.Tensor], picture: tf.Tensor, boxes: tf.Tensor, content: tf.Tensor
  ) -> dict[str, tf.Tensor]:
    """label_probs [B, R, L] and colour_probs [B, R, C] of boxes [B, R, 4] of the picture."""
    vectors = region_vectors.vectors(maps, picture, canvas.to_canvas(boxes, content), content)
    flat = self.namer(tf.reshape(vectors, [-1, vectors.shape[-1]]))
    shape = tf.shape(boxes)[:2]
    return {
      f"{name}_probs": tf.reshape(tf.nn.softmax(logits), [*tf.unstack(shape), logits.shape[-1]])
      for name, logits in flat.items()
    }

  def get_config(self):
    channels = {str(stride): count for stride, count in self.channels.items()}
    return {"config": configs.to_dict(self.config), "channels": channels, "name": self.name}


class LearnedPart(keras.Model):
  """What training changes: the head, and the tuned layers of the backbone."""

  def __init__(self, head: DetectorHead, tuned: Sequence[keras.layers.Layer]):
    super().__init__(name="learned")
    self.head, self.tuned = head, list(tuned)
    self.built = True


@keras.saving.register_keras_serializable(package="gcap_tf")
class Detector(keras.Model):
  """Backbone and head together.

  Args:
    config: a `DetectorConfig` or its dictionary.
    backbone_weights: "imagenet", "none" (also before weights are loaded), or a file.

  Attributes:
    learned: what training changes.
    frozen: the part of the backbone whose weights never change, from a canvas to the maps that
      a cache may keep; `maps` makes the others of them.
  """

  def __init__(self, config: DetectorConfig | dict, backbone_weights: str = "none", **kwargs):
    super().__init__(**kwargs)
    self.config = _config(config)
    self.backbone: base.Backbone = catalog.create(self.config.backbone, backbone_weights)
    self.backbone.trainable = False
    self.head = DetectorHead(self.config, self.backbone.channels, name="head")
    tuned = []
    self.frozen, self._upper = self.backbone, None
    if self.config.tuned_stride:
      self.frozen, self._upper = self.backbone.parts()
      tuned = _layers_to(self._upper, self.config.tuned_stride)
    for layer in tuned:
      layer.trainable = True
    self.learned = LearnedPart(self.head, tuned)
    self.built = True

  def maps(self, cached: dict[int, tf.Tensor]) -> dict[int, tf.Tensor]:
    """The maps of all strides, of what `frozen` gives."""
    if self._upper is None:
      return cached
    (start,) = cached.values()
    return self._upper(start)

  def call(self, canvases: tf.Tensor, training: bool = False) -> dict[str, tf.Tensor]:
    """Cells' "logits" [B, P] and "boxes" [B, P, 4] of the canvas, for canvases [B, S, S, 3]."""
    return self.head(self.backbone(canvases), training=training)

  def detect(self, canvases: tf.Tensor, content: tf.Tensor, regions: int = 36) -> dict[str, Any]:
    """The regions of photographs; runs in a graph, its shapes are static but for the batch.

    Args:
      canvases: [B, S, S, 3] float32 from 0 to 255, see `canvas.place`.
      content: [B, 2], see `canvas.place`.
      regions: R.

    Returns:
      boxes [B, R, 4] from 0 to 1 of the picture, as `suppression` orders them; scores [B, R];
      label_probs [B, R, L]; colour_probs [B, R, C]; region_mask [B, R];
      maps {stride: [B, H, W, C]}.
    """
    maps = self.backbone(canvases)
    found = self.head.propose(maps, content, regions)
    picture = colour_histogram.small_picture(canvases)
    names = self.head.name_regions(maps, picture, found["boxes"], content)
    return {**found, **names, "maps": maps}

  def get_config(self):
    return {"config": configs.to_dict(self.config), "name": self.name}


def _cell_namer(config: DetectorConfig) -> keras.Model:
  """Vectors of cells [N, width] -> logits of words [N, labels]."""
  vector = keras.Input((config.width,))
  hidden = keras.layers.Dense(config.cell_units, "relu", name="cell_hidden")(vector)
  return keras.Model(
    vector, keras.layers.Dense(config.labels, name="cell_logits")(hidden), name="cell_namer"
  )


def _layers_to(upper: keras.Model, stride: int) -> list[keras.layers.Layer]:
  """The layers with weights that the map of a stride depends on."""
  reached = keras.Model(upper.input, upper.output[stride])
  return [layer for layer in reached.layers if layer.weights]


def _config(config: DetectorConfig | dict) -> DetectorConfig:
  if isinstance(config, DetectorConfig):
    return config
  return configs.from_dict(DetectorConfig, config, "detector")
