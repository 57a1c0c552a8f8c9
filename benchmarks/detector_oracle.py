"""How well an oracle that knows the class prototypes grounds words on a detector's regions.

The oracle grounds an object word on the region whose feature has the largest cosine with
the word's class prototype. Partial, enlarged and deviated grounding are defined as in
Distributed Attention for Grounded Image Captioning (Chen et al., ACM MM 2021,
arXiv:2108.01056): a partial box lies inside the object, an enlarged box contains it, and a
deviated box does neither. Here a box that shows another object is a separate kind, confusion.
"""

import collections
import dataclasses
from collections.abc import Iterable

import numpy as np

from gcap_tf import box_geometry
from gcap_tf.data import records
from gcap_tf.data.stores import simulated_detector, word_prototypes

INSIDE = 0.9  # share of a box that must lie in the other to count as inside


@dataclasses.dataclass(frozen=True)
class OracleReport:
  """Shares of the kinds of grounding among `words` object words; they add up to 1."""

  words: int
  accuracy: float
  partial: float
  enlarged: float
  confusion: float
  deviated: float


def oracle_accuracy(
  dataset: Iterable[records.Record], config: simulated_detector.NoisyConfig
) -> OracleReport:
  """Grounds every annotated object that a caption names, once per picture.

  It leaves out entities without an annotated object of their own (two people).
  """
  counts = collections.Counter()
  for record in dataset:
    counts.update(_record_kinds(record, config))
  total = sum(counts.values())
  kinds = ("correct", "partial", "enlarged", "confusion", "deviated")
  return OracleReport(total, *(counts[kind] / max(1, total) for kind in kinds))


def named_objects(record: records.Record) -> dict[tuple[str, str], np.ndarray]:
  """Returns (entity, label) -> boxes [n, 4] of the annotated objects that a caption names."""
  named = {phrase.entity for caption in record.captions for phrase in caption.phrases}
  boxes = collections.defaultdict(list)
  for thing in record.annotated:
    if thing.label and thing.entity in named:
      boxes[thing.entity, thing.label].append(thing.box_px)
  return {key: np.stack(rows) for key, rows in boxes.items()}


def _record_kinds(record: records.Record, config: simulated_detector.NoisyConfig) -> list[str]:
  targets = named_objects(record)
  if not targets:
    return []
  regions = simulated_detector.noisy(record, config)
  labels = tuple(label for _, label in targets)
  prototypes = _prototypes(labels, config)
  norms = np.linalg.norm(regions.features, axis=1)
  cosine = prototypes @ regions.features.T / np.maximum(norms, 1e-9)  # [targets, N]
  picked = regions.boxes_px[np.argmax(cosine, axis=1)]
  others = np.stack([thing.box_px for thing in record.annotated])
  return [
    error_kind(box, boxes_px, others)
    for box, boxes_px in zip(picked, targets.values(), strict=True)
  ]


def error_kind(box: np.ndarray, targets: np.ndarray, others: np.ndarray) -> str:
  """Returns "correct" if the IoU is above 0.5, else the kind of error.

  Args:
    box: [4] the picked region.
    targets: [n, 4] boxes of the entity; the one with the largest IoU counts.
    others: [m, 4] all annotated boxes of the picture.
  """
  overlap = box_geometry.iou(box, targets)[0]
  target = targets[np.argmax(overlap)]
  if overlap.max() > 0.5:
    return "correct"
  shared = box_geometry.intersection(box, target)[0, 0]
  if shared >= INSIDE * box_geometry.area(box):
    return "partial"
  if shared >= INSIDE * box_geometry.area(target):
    return "enlarged"
  if box_geometry.iou(box, others).max() > 0.5:
    return "confusion"
  return "deviated"


def _prototypes(labels: tuple[str, ...], config: simulated_detector.NoisyConfig) -> np.ndarray:
  """[n, D] prototypes of n classes."""
  size, similarity = config.feature_size, config.similarity
  rows = [word_prototypes.class_prototype(label, size, similarity) for label in labels]
  return np.array(rows, np.float32).reshape(-1, size)
