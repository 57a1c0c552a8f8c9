"""Simulated detectors: regions for pictures whose objects are annotated.

`perfect` is the "unrealistically perfect object detector" of Learning to Generate Grounded
Visual Captions without Localization Supervision (Ma et al., ECCV 2020, arXiv:1906.00283):
"ground-truth object words associated with each ground-truth bbox". A box that captions name
with several words ("girl", "child") is a region for each, and the box around several objects
("people") is one as well, so that every object word of a caption has its region.

`noisy` imitates a real detector. It proposes jittered, partial, enlarged and background
boxes, and gives each a feature that depends on what the box shows (noisy_features.py).

Both detectors depend only on the record (and the seed), not on order, process or machine.
"""

import dataclasses

import numpy as np

from gcap_tf import box_geometry
from gcap_tf.data import records
from gcap_tf.data.stores import noisy_config, noisy_features, word_prototypes

NoisyConfig = noisy_config.NoisyConfig
LEVELS = noisy_config.LEVELS
JITTER = 0.12  # edges move by at most this share of a side; IoU then stays above 0.57
GOOD, PARTIAL, ENLARGED, BACKGROUND = range(4)
LOW, HIGH = [0, 1, 0, 1], [2, 3, 2, 3]  # columns of a box's corners, repeated
OUTWARDS = np.asarray([-1, -1, 1, 1], np.float32)


@dataclasses.dataclass(frozen=True)
class _Objects:
  """The annotated objects of a picture, without exact repeats: O of them."""

  boxes_px: np.ndarray  # [O, 4]
  labels: tuple[str, ...]
  attributes: tuple[tuple[str, ...], ...]


def perfect(record: records.Record, max_regions: int | None = None) -> records.Regions:
  """One region for every annotated box and word that names it; no features.

  Exact repeats of (label, box) are dropped; words of captions other than an object's own
  label come last. Above `max_regions` the largest boxes stay, in their order. A picture without
  annotated boxes is one region, the whole picture, labelled "".
  """
  objects = _objects(record)
  boxes, labels = _with_object_words(record, objects)
  if not labels:
    boxes = np.asarray([[0, 0, max(1, record.width), max(1, record.height)]], np.float32)
    return records.Regions(boxes_px=boxes, labels=("",))
  if max_regions is not None and len(labels) > max_regions:
    largest = np.argsort(-box_geometry.area(boxes), kind="stable")[:max_regions]
    keep = np.sort(largest)
    boxes, labels = boxes[keep], tuple(labels[i] for i in keep)
  return records.Regions(boxes_px=boxes, labels=labels)


def noisy(record: records.Record, config: NoisyConfig) -> records.Regions:
  """N proposals with features, labels as the detector sees them, and scores, best first."""
  objects = _objects(record)
  rng = records.generator(record.image_id, config.seed)
  frame = _frame(record, objects.boxes_px)
  focus_px = _focus_boxes(objects)
  boxes_px = _proposals(objects.boxes_px, focus_px, frame, config, rng)
  coverage, signal = noisy_features.signal_of(boxes_px, objects.boxes_px, focus_px, config, rng)
  features = noisy_features.features_of(
    boxes_px, coverage, signal, objects.labels, objects.attributes, frame, config, rng
  )

  if objects.labels:
    seen, strength = signal.argmax(axis=1).tolist(), signal.max(axis=1)
  else:
    seen, strength = [], rng.random(config.regions, np.float32) * 0.1
  order = np.argsort(-strength, kind="stable")
  features, strength = features[order], strength[order]
  return records.Regions(
    boxes_px=boxes_px[order],
    features=features,
    labels=tuple(objects.labels[seen[r]] if seen else "" for r in order.tolist()),
    scores=strength / (strength + 0.5),
  )


def _objects(record: records.Record) -> _Objects:
  unique = {}
  for thing in record.annotated:
    box = np.asarray(thing.box_px, np.float32)
    unique.setdefault((thing.label, box.tobytes()), (box, thing.label, tuple(thing.attributes)))
  if not unique:
    return _Objects(np.zeros((0, 4), np.float32), (), ())
  boxes, labels, attributes = zip(*unique.values(), strict=True)
  return _Objects(np.array(boxes), labels, attributes)


def _with_object_words(
  record: records.Record, objects: _Objects
) -> tuple[np.ndarray, tuple[str, ...]]:
  """Boxes [n, 4] and labels of the objects, then of other object words of the captions."""
  named = {
    (label, box.tobytes()): box for label, box in zip(objects.labels, objects.boxes_px, strict=True)
  }
  for caption in record.captions:
    for word in caption.objects:
      box = np.asarray(word.box_px, np.float32)
      named.setdefault((word.name, box.tobytes()), box)
  boxes = np.array(list(named.values()), np.float32).reshape(-1, 4)
  return boxes, tuple(label for label, _ in named)


def _frame(record: records.Record, boxes_px: np.ndarray) -> np.ndarray:
  """[2] width and height; if the record has none, what the boxes span."""
  span = boxes_px[:, 2:].max(0) if len(boxes_px) else np.ones(2, np.float32)
  known = np.asarray([record.width, record.height], np.float32)
  return np.maximum(np.where(known > 0, known, span), 1)


def _focus_boxes(objects: _Objects) -> np.ndarray:
  """[O, 4]: the spot of each object that is most typical of its class."""
  if not objects.labels:
    return objects.boxes_px
  fractions = np.array([word_prototypes.focus_fractions(label) for label in objects.labels])
  low, sides = _corner_and_sides(objects.boxes_px)
  return low + fractions * sides


def _corner_and_sides(boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """[n, 4] x1, y1, x1, y1 and [n, 4] width, height, width, height."""
  low = boxes[:, LOW]
  return low, boxes[:, HIGH] - low


def _proposals(
  objects_px: np.ndarray,
  focus_px: np.ndarray,
  frame: np.ndarray,
  config: NoisyConfig,
  rng: np.random.Generator,
) -> np.ndarray:
  """[N, 4]: first the good boxes that every object gets, then the mix of kinds."""
  n, count = config.regions, len(objects_px)
  dice = rng.random((n, 7), np.float32)
  if not count:
    return _background(dice, frame)
  areas = box_geometry.area(objects_px)
  by_area = np.argsort(-areas, kind="stable")
  promised = np.repeat(by_area, max(1, min(config.min_good, n // count)))[:n]

  cumulative = np.cumsum(np.sqrt(areas) + 1)
  target = np.minimum(np.searchsorted(cumulative, dice[:, 0] * cumulative[-1]), count - 1)
  good_share = 1 - config.partial - config.enlarged - config.background
  kind = np.searchsorted(
    (good_share, good_share + config.partial, 1 - config.background), dice[:, 1]
  )
  target[: len(promised)], kind[: len(promised)] = promised, GOOD

  box, spot = objects_px[target], focus_px[target]  # [N, 4]
  low, sides = _corner_and_sides(box)
  spread = dice[:, 2:6]
  wobble = (2 * JITTER) * spread - JITTER
  good = box + wobble * sides
  at_spot = np.clip(spot + wobble * _corner_and_sides(spot)[1], low, low + sides)
  length = 0.3 + 0.38 * spread[:, 2:]
  start = spread[:, :2] * (1 - length)
  anywhere = low + np.concatenate([start, start + length], 1) * sides
  partial = np.where(dice[:, 6:] < 0.6, at_spot, anywhere)
  enlarged = box + (0.2 + 0.9 * spread) * sides * OUTWARDS

  choices = np.array([good, partial, enlarged, _background(dice, frame)])  # [4, N, 4]
  return np.clip(choices[kind, np.arange(n)], 0, frame[LOW])


def _background(dice: np.ndarray, frame: np.ndarray) -> np.ndarray:
  """[N, 4] boxes anywhere, a tenth to six tenths of the picture a side."""
  length = 0.1 + 0.5 * dice[:, 2:4]
  start = dice[:, 4:6] * (1 - length)
  return np.concatenate([start, start + length], 1) * frame[LOW]
