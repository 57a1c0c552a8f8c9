"""Photographs to regions: what captioners and matchers read, in the graph.

The numbers of a region, in this order (`columns`):

    map_8, map_16, map_32   averages of the backbone's maps inside the box
    geometry                place, size and aspect
    histogram               RGB, weighed towards the middle of the box
    labels, colours         4 sqrt(p) of the detector's distributions
    score                   4 times the objectness

Averages, geometry and histogram are standardised by the statistics that the detector was trained
with, and cut at 8 standard deviations. The feature of the whole picture is the same up to
`histogram`; the grid is `map_32` of 7 x 7 equal cells.
"""

from typing import NamedTuple

import keras
import tensorflow as tf

from gcap_tf.vision import canvas, colour_histogram, region_vectors, roi_average
from gcap_tf.vision import detector as detectors

GRID = 7
CELLS = GRID * GRID
SCALE = 4.0  # A sure label is about as large as a rare value of a standardised number.
LIMIT = 8.0
_EPSILON = 1e-3  # As the detector standardises.
_BINS = 4  # map_16 stands as 2 x 2 bins in a region vector.


class Given(NamedTuple):
  """Boxes of another detector for a batch of pictures.

  Attributes:
    boxes: [B, R, 4] of the picture.
    scores: [B, R].
    labels: [B, R] int32, column of the label, -1 if it is unknown.
    region_mask: [B, R].
  """

  boxes: tf.Tensor
  scores: tf.Tensor
  labels: tf.Tensor
  region_mask: tf.Tensor


class RegionMaker(tf.Module):
  """Makes regions of photographs with one detector.

  Attributes:
    detector: gives maps, proposals, labels and colours.
    columns: part of a feature -> (first column, one past the last).
    feature_size, global_size, grid_size: D, G, M.
  """

  def __init__(self, detector: detectors.Detector, standard: keras.layers.Layer | None = None):
    """Takes a detector.

    Args:
      detector: gives everything.
      standard: the layer whose running mean and variance standardise; the detector's by default.
    """
    super().__init__(name="region_maker")
    self.detector = detector
    self.standard = standard or detector.head.namer.standard
    self._parts = _parts(detector.backbone.channels)
    sizes = {name: end - start for name, (start, end) in self._parts.items()}
    sizes["map_16"] //= _BINS
    self.global_size = sum(sizes.values())
    sizes |= {"labels": detector.config.labels, "colours": detector.config.colours, "score": 1}
    self.columns: dict[str, tuple[int, int]] = {}
    for name, size in sizes.items():
      start = sum(end - first for first, end in self.columns.values())
      self.columns[name] = (start, start + size)
    self.feature_size = self.columns["score"][1]
    self.grid_size = sizes["map_32"]

  def propose(
    self, canvases: tf.Tensor, content: tf.Tensor, regions: int, min_score: float = 0.0
  ) -> dict[str, tf.Tensor]:
    """The detector's own regions of photographs.

    Args:
      canvases: [B, S, S, 3], see `canvas.place`.
      content: [B, 2], see `canvas.place`.
      regions: R.
      min_score: leaves out regions that are scored lower; the best one always stays.
    """
    maps = self.detector.backbone(canvases)
    found = self.detector.head.propose(maps, content, regions)
    first = tf.range(regions) == 0
    region_mask = found["region_mask"] & ((found["scores"] >= min_score) | first)
    unknown = tf.fill(tf.shape(region_mask), -1)
    given = Given(found["boxes"], found["scores"], unknown, region_mask)
    return self._describe(maps, canvases, content, given)

  def describe(self, canvases: tf.Tensor, content: tf.Tensor, given: Given) -> dict[str, tf.Tensor]:
    """The same for boxes of another detector, whose labels count as far as it is sure of them."""
    return self._describe(self.detector.backbone(canvases), canvases, content, given)

  def _describe(
    self, maps: dict[int, tf.Tensor], canvases: tf.Tensor, content: tf.Tensor, given: Given
  ) -> dict[str, tf.Tensor]:
    """Parts of a batch.

    Returns:
      features [B, R, D], boxes [B, R, 4] of the picture, region_mask [B, R], region_scores
      [B, R], region_labels and region_colours [B, R] int32 (columns of their words),
      label_probs [B, R, L], global_feature [B, G], grid_features [B, C, M].
    """
    whole = tf.zeros_like(given.boxes[:, :1]) + tf.constant([0.0, 0.0, 1.0, 1.0])
    boxes = canvas.to_canvas(tf.concat([given.boxes, whole], 1), content)
    small = colour_histogram.small_picture(canvases)
    vectors = region_vectors.vectors(maps, small, boxes, content)  # [B, R + 1, V]
    visual = self._visual(vectors)
    labels, colours = self._names(vectors[:, :-1])
    sure = tf.where(given.labels >= 0, given.scores, 0.0)[..., tf.newaxis]
    named = tf.one_hot(given.labels, labels.shape[-1])
    labels = sure * named + (1.0 - sure) * labels
    parts = (tf.sqrt(labels), tf.sqrt(colours), given.scores[..., tf.newaxis])
    features = tf.concat([visual[:, :-1], *(SCALE * part for part in parts)], -1)
    real = given.region_mask[..., tf.newaxis]
    return {
      "features": tf.where(real, features, 0.0),
      "boxes": tf.where(real, given.boxes, 0.0),
      "region_mask": given.region_mask,
      "region_scores": tf.where(given.region_mask, given.scores, 0.0),
      "region_labels": tf.argmax(labels, -1, tf.int32),
      "region_colours": tf.argmax(colours, -1, tf.int32),
      "label_probs": labels,
      "global_feature": visual[:, -1],
      "grid_features": self._grid(maps[max(maps)], boxes[:, -1:]),
    }

  def _names(self, vectors: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Probabilities of labels [B, R, L] and colours [B, R, C]."""
    size = vectors.shape[-1]
    found = self.detector.head.namer(tf.reshape(vectors, [-1, size]))
    shape = tf.shape(vectors)[:2]
    return tuple(
      tf.reshape(tf.nn.softmax(found[name]), [*tf.unstack(shape), found[name].shape[-1]])
      for name in ("label", "colour")
    )

  def standard_of(self, part: str) -> tuple[tf.Tensor, tf.Tensor]:
    """Mean and deviation that standardise a part of region vectors, such as "geometry"."""
    start, end = self._parts[part]
    mean, deviation = self._statistics()
    return mean[start:end], deviation[start:end]

  def _visual(self, vectors: tf.Tensor) -> tf.Tensor:
    """[..., G]: the chosen columns of region vectors, standardised."""
    mean, deviation = self._statistics()
    standard = (vectors - mean) / deviation
    chosen = {name: standard[..., start:end] for name, (start, end) in self._parts.items()}
    chosen["map_16"] = tf.add_n(tf.split(chosen["map_16"], _BINS, -1)) / _BINS
    return tf.clip_by_value(tf.concat(list(chosen.values()), -1), -LIMIT, LIMIT)

  def _grid(self, coarse: tf.Tensor, whole: tf.Tensor) -> tf.Tensor:
    cells = roi_average.average(coarse, whole, GRID)  # [B, 1, C * M]
    cells = tf.reshape(cells, [-1, CELLS, self.grid_size])
    mean, deviation = self.standard_of("map_32")
    return tf.clip_by_value((cells - mean) / deviation, -LIMIT, LIMIT)

  def _statistics(self) -> tuple[tf.Tensor, tf.Tensor]:
    mean = tf.convert_to_tensor(self.standard.moving_mean)
    variance = tf.convert_to_tensor(self.standard.moving_variance)
    return mean, tf.sqrt(variance + _EPSILON)


def _parts(channels: dict[int, int]) -> dict[str, tuple[int, int]]:
  """Where the parts that features use stand in a region vector."""
  fine, middle, coarse = (channels[stride] for stride in sorted(channels))
  end = region_vectors.size(channels)
  histogram = colour_histogram.SIZE // 2  # The second one is weighed towards the middle.
  geometry = end - 2 * histogram
  first, second = fine, fine + _BINS * middle
  return {
    "map_8": (0, first),
    "map_16": (first, second),
    "map_32": (second, second + coarse),
    "geometry": (geometry - region_vectors.GEOMETRY, geometry),
    "histogram": (end - histogram, end),
  }
