"""Regions of annotated pictures without pixels, in the layout of a detector's features.

A picture that is not at hand still has captions, and boxes with phrases. Its regions are those
boxes, as a detector might find and name them:

    labels      4 sqrt(p)    p = s a + (1 - s) f
    colours     4 sqrt(p)    the same; p = f if no phrase names a colour of the box
    score       4 o
    geometry    as extraction computes and standardises it
    others      0, which is the mean of a standardised number

    a   how often phrases call the box so, as shares of all its names
    f   frequency of the name in the train split
    s   how sure the detector is, drawn for each region
    o   objectness, drawn for each region

Every edge moves by a normal share of the box's side, and boxes stand twice, moved in two ways,
while there is room: a detector's boxes never fit exactly, and it finds a thing more than once. All
draws follow from a hash of the picture's id.

The annotation gives boxes, and the words of the phrases of all captions that name each box
(`vision/annotations.py`, which teaches the detector, too). So the labels of these regions are
supervision of names. Which word of a caption belongs to which box is not in them.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from gcap_tf import box_geometry, errors
from gcap_tf import config as configs
from gcap_tf.data import records
from gcap_tf.data.stores import extracted_store
from gcap_tf.text import object_words
from gcap_tf.vision import annotations

_LEAST_SIDE = 1e-3  # As `region_vectors` has it.
_WHOLE = np.array([[0, 0, 1, 1]], np.float32)


@dataclasses.dataclass(frozen=True)
class LabelledConfig:
  """How sure and how exact the regions of pictures without pixels are.

  Attributes:
    max_regions: the most regions of a picture; the largest boxes stay.
    doubled: share of the boxes that stand twice, while there is room.
    least_certainty, most_certainty: between which s is drawn.
    least_objectness, most_objectness: between which o is drawn.
    shake: deviation of a moved edge, as a share of the box's side.
    seed: of all draws.
  """

  max_regions: configs.PositiveInt = 20
  doubled: configs.Fraction = 1.0
  least_certainty: configs.Fraction = 0.4
  most_certainty: configs.Fraction = 0.95
  least_objectness: configs.Fraction = 0.3
  most_objectness: configs.Fraction = 0.8
  shake: configs.Weight = 0.12
  seed: configs.Seed = 1

  def __post_init__(self):
    for name in ("certainty", "objectness"):
      least, most = getattr(self, f"least_{name}"), getattr(self, f"most_{name}")
      if least > most:
        raise errors.UserError(
          f"labelled.least_{name} is {least:g}, labelled.most_{name} is {most:g}; "
          "expected the first to be the smaller"
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Standard:
  """What extraction knows of a region's numbers, without TensorFlow.

  Attributes:
    canvas: side of the detector's canvas in pixels.
    mean, deviation: [8] of geometry.
    limit: where standardised numbers are cut.
    scale: of labels, colours and score.
  """

  canvas: int
  mean: np.ndarray
  deviation: np.ndarray
  limit: float
  scale: float


@dataclasses.dataclass(frozen=True, eq=False)
class Frequencies:
  """How often phrases use each label [L] and each colour [C]; each adds up to 1."""

  labels: np.ndarray
  colours: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class LabelledRegions:
  """Makes regions of records; can be pickled.

  Attributes:
    info: of the store that the other pictures' regions are in.
    classes: its labels, as words of phrases name them.
    standard: of its detector.
    frequencies: of the train split.
    config: how sure and how exact.
  """

  info: extracted_store.StoreInfo
  classes: object_words.ObjectClasses
  standard: Standard
  frequencies: Frequencies
  config: LabelledConfig

  def of(self, record: records.Record) -> records.Regions:
    """The regions of a picture, best first; a picture without annotated boxes is one region."""
    if not (record.width and record.height):
      raise errors.UserError(
        f"picture {record.image_id} has no size, so its boxes cannot become regions; "
        "leave out pictures without a file: --without_pictures=leave_out"
      )
    config, named = self.config, annotations.of_record(record, self.classes)
    boxes, words, colours = _largest(named, min(config.max_regions, self.info.regions))
    rng = records.generator(record.image_id, config.seed)
    rows = self._rows(len(boxes), rng)
    moved_px = _shaken(boxes[rows], config.shake, rng, record.width, record.height)
    sure = rng.uniform(config.least_certainty, config.most_certainty, (len(rows), 1))
    scores = rng.uniform(config.least_objectness, config.most_objectness, len(rows))
    order = np.argsort(-scores, kind="stable")
    rows, moved_px, sure, scores = rows[order], moved_px[order], sure[order], scores[order]
    label_probs = softened(words[rows], self.frequencies.labels, sure)
    colour_probs = softened(colours[rows], self.frequencies.colours, sure)
    features = np.zeros([len(rows), self.info.feature_size], np.float32)
    scale = self.standard.scale
    for part, values in (
      ("geometry", self.geometry(moved_px, record.width, record.height)),
      ("labels", scale * np.sqrt(label_probs)),
      ("colours", scale * np.sqrt(colour_probs)),
      ("score", scale * scores[:, None]),
    ):
      first, end = self.info.columns[part]
      features[:, first:end] = values
    return records.Regions(
      boxes_px=moved_px,
      # Rounded as a store rounds them.
      features=features.astype(np.float16).astype(np.float32),
      labels=tuple(self.info.labels[column] for column in label_probs.argmax(1)),
      scores=scores.astype(np.float32),
      global_feature=np.zeros(self.info.global_size, np.float32),
      grid_features=np.zeros([self.info.grid_cells, self.info.grid_size], np.float32),
      colours=tuple(self.info.colours[column] for column in colour_probs.argmax(1)),
    )

  def describe(self) -> dict[str, Any]:
    """How the regions were made, for dataset.json."""
    return configs.to_dict(self.config)

  def _rows(self, boxes: int, rng: np.random.Generator) -> np.ndarray:
    """Which box each region shows: every box, then some a second time."""
    room = min(self.config.max_regions, self.info.regions) - boxes
    again = min(room, round(self.config.doubled * boxes))
    return np.concatenate([np.arange(boxes), rng.permutation(boxes)[:again]])

  def geometry(self, boxes_px: np.ndarray, width: int, height: int) -> np.ndarray:
    """[R, 8]: what `region_vectors` says of boxes on the detector's canvas, standardised."""
    picture = np.array([width, height])
    inner = np.clip(np.round(picture * (self.standard.canvas / picture.max())), 1, None)
    content = inner / self.standard.canvas
    boxes = boxes_px / np.tile(picture, 2)
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2
    sides = np.maximum((boxes[:, 2:] - boxes[:, :2]) * content, _LEAST_SIDE)
    found = np.concatenate(
      [
        centre,
        sides / content,
        np.sqrt(sides.prod(1, keepdims=True)),
        np.log(sides[:, :1] / sides[:, 1:]),
        np.broadcast_to(content, centre.shape),
      ],
      axis=1,
    )
    standard = (found - self.standard.mean) / self.standard.deviation
    return np.clip(standard, -self.standard.limit, self.standard.limit)


def frequencies(pictures: Iterable[annotations.Picture], labels: int) -> Frequencies:
  """How often phrases use each label and colour, with one more of each.

  Args:
    pictures: of the train split.
    labels: L.
  """
  words, colours = np.ones(labels), np.ones(len(annotations.COLOURS))
  for picture in pictures:
    words += picture.words.sum(0)
    colours += picture.colours.sum(0)
  return Frequencies(words / words.sum(), colours / colours.sum())


def softened(counts: np.ndarray, frequency: np.ndarray, sure: np.ndarray) -> np.ndarray:
  """[R, n] probabilities of names: s a + (1 - s) f, or f where nothing is counted.

  Args:
    counts: [R, n] how often each name is used.
    frequency: [n] f.
    sure: [R, 1] s.
  """
  total = counts.sum(1, keepdims=True)
  shares = counts / np.maximum(total, 1)
  sure = np.where(total > 0, sure, 0.0)
  return sure * shares + (1 - sure) * frequency


def _largest(named: annotations.Picture, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """Boxes, words and colours of the largest boxes in their order; else the whole picture."""
  if not len(named.boxes):
    return _WHOLE, np.zeros([1, named.words.shape[1]]), np.zeros([1, named.colours.shape[1]])
  kept = np.sort(np.argsort(-box_geometry.area(named.boxes), kind="stable")[:count])
  return named.boxes[kept], named.words[kept], named.colours[kept]


def _shaken(
  boxes: np.ndarray, deviation: float, rng: np.random.Generator, width: int, height: int
) -> np.ndarray:
  """Boxes [R, 4] from 0 to 1 with moved edges, in pixels; each side is a pixel at least."""
  sides = np.tile(boxes[:, 2:] - boxes[:, :2], 2)
  moved = boxes + deviation * sides * rng.standard_normal(boxes.shape)
  low, high = np.minimum(moved[:, :2], moved[:, 2:]), np.maximum(moved[:, :2], moved[:, 2:])
  size = np.array([width, height])
  low = np.clip(low * size, 0, np.maximum(size - 1, 0))
  high = np.minimum(np.maximum(high * size, low + 1), size)
  return np.concatenate([low, high], axis=1).astype(np.float32)
