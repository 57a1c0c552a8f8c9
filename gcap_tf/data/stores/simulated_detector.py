"""Simulated detectors: regions for pictures whose objects are annotated.

`perfect` is the "unrealistically perfect object detector" of Learning to Generate Grounded
Visual Captions without Localization Supervision (Ma et al., ECCV 2020, arXiv:1906.00283):
"ground-truth object words associated with each ground-truth bbox". A box that captions call by
several words ("girl", "child") is a region for each, and the box around several objects
("people") is one as well, so that every object word of a caption can be found.

`noisy` stands in for a real detector. It proposes jittered, partial, enlarged and background
boxes, and gives each a feature that is a function of what the box shows:

    s[r, o] = purity^g * ((1 - w) * coverage^b + w * focus)
              * (1 + boost[o] * focus * (1 - coverage))
    f[r] = sum_o s[r, o] * (class[o] + a * attributes[o] + p * (1 - coverage) * part[o])
           + confusion + geometry + noise

with coverage the share of the object that the box shows, purity the share of the box that
is the object, and focus the share it shows of the spot that tells the class best (a head).
A box around that spot can carry a stronger class signal than the box around the object:
that is why captioners come to look at parts. Features are signed and the sum is linear, so
one linear layer can read off classes and attributes.

Both detectors depend on the record alone (and the seed): not on order, process or machine.
"""

import dataclasses
import functools
import statistics
import zlib

import numpy as np

from gcap_tf import box_geometry, errors
from gcap_tf.data import records
from gcap_tf.data.stores import word_prototypes

JITTER = 0.12  # edges move by at most this share of a side; IoU then stays above 0.57
GOOD, PARTIAL, ENLARGED, BACKGROUND = range(4)
LOW, HIGH = [0, 1, 0, 1], [2, 3, 2, 3]  # columns of a box's corners, repeated
OUTWARDS = np.asarray([-1, -1, 1, 1], np.float32)


@dataclasses.dataclass(frozen=True)
class NoisyConfig:
  """How many regions, and how misleading they are.

  Attributes:
    regions: proposals a picture (N).
    feature_size: D.
    seed: of the jitter and the noise; prototypes do not depend on it.
    min_good: proposals with IoU > 0.5 that every object gets, while N allows; where
      there are more objects than proposals, the largest get one each.
    partial, enlarged, background: shares of these kinds among the remaining proposals;
      what is left to 1 is further good ones.
    focus: w, share of an object's class signal that comes from its telling spot.
    focus_boost: how much stronger the spot alone can be; each object draws its
      boost from 0 to twice this.
    purity_power: g, coverage_power: b.
    attribute_weight: a, part_weight: p.
    similarity: cosine of the prototypes of related classes.
    confusion: strength of a wrong class of the same picture in a region's feature.
    signal_noise: relative deviation of each object's signal in each region.
    geometry_weight: strength of the box's place and size in the feature.
    noise: norm of the Gaussian noise, where a clean class signal has norm 1.
    rms: root mean square of a feature entry for a vector of norm 1.
  """

  regions: int = 36
  feature_size: int = 256
  seed: int = 1
  min_good: int = 1
  partial: float = 0.4
  enlarged: float = 0.15
  background: float = 0.2
  focus: float = 0.5
  focus_boost: float = 0.7
  purity_power: float = 0.5
  coverage_power: float = 0.5
  attribute_weight: float = 0.35
  part_weight: float = 0.6
  similarity: float = 0.35
  confusion: float = 0.25
  signal_noise: float = 0.12
  geometry_weight: float = 0.2
  noise: float = 0.6
  rms: float = 0.5

  def __post_init__(self):
    if self.regions < 1 or self.feature_size < 1:
      raise errors.UserError(
        f"noisy detector: regions is {self.regions} and feature_size {self.feature_size}; "
        "both must be at least 1"
      )
    if not 0 <= self.partial + self.enlarged + self.background <= 1:
      raise errors.UserError("noisy detector: partial + enlarged + background must be 0 to 1")
    if not 0 <= self.similarity < 1:
      raise errors.UserError(f"noisy detector: similarity is {self.similarity}; it must be 0 to 1")


LEVELS: dict[str, NoisyConfig] = {
  "clean": NoisyConfig(focus_boost=0.0, confusion=0.0, signal_noise=0.02, noise=0.1),
  "mild": NoisyConfig(focus_boost=0.3, confusion=0.15, signal_noise=0.06, noise=0.3),
  "default": NoisyConfig(),
  "hard": NoisyConfig(focus_boost=1.2, confusion=0.5, signal_noise=0.25, noise=1.2),
}


@dataclasses.dataclass(frozen=True)
class _Objects:
  """The annotated objects of a picture, without exact repeats: K of them."""

  boxes_px: np.ndarray  # [K, 4]
  labels: tuple[str, ...]
  attributes: tuple[tuple[str, ...], ...]


def perfect(record: records.Record, max_regions: int | None = None) -> records.Regions:
  """One region for every annotated box and word that names it; no features.

  Exact repeats of (label, box) are dropped; what captions say beside an object's own label
  comes last. Above `max_regions` the largest boxes stay, in their order. A picture without
  annotated boxes is one region: the whole, labelled "".
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
  rng = np.random.Generator(
    np.random.PCG64([config.seed, zlib.crc32(record.image_id.encode("utf-8"))])
  )
  frame = _frame(record, objects.boxes_px)
  focus_px = _focus_boxes(objects)
  boxes_px = _proposals(objects.boxes_px, focus_px, frame, config, rng)
  coverage, signal = _signal(boxes_px, objects.boxes_px, focus_px, config, rng)
  features = _features(boxes_px, coverage, signal, objects, frame, config, rng)

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
  """Boxes [n, 4] and labels of objects, then of the captions' object words that they lack."""
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
  """[2] width and height; where the record does not know them, what the boxes span."""
  span = boxes_px[:, 2:].max(0) if len(boxes_px) else np.ones(2, np.float32)
  known = np.asarray([record.width, record.height], np.float32)
  return np.maximum(np.where(known > 0, known, span), 1)


def _focus_boxes(objects: _Objects) -> np.ndarray:
  """[K, 4]: the spot of each object that tells its class best."""
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
  """[N, 4]: the promised good boxes first, then the mix of kinds."""
  n, k = config.regions, len(objects_px)
  dice = rng.random((n, 7), np.float32)
  if not k:
    return _background(dice, frame)
  areas = box_geometry.area(objects_px)
  by_area = np.argsort(-areas, kind="stable")
  promised = np.repeat(by_area, max(1, min(config.min_good, n // k)))[:n]

  cumulative = np.cumsum(np.sqrt(areas) + 1)
  target = np.minimum(np.searchsorted(cumulative, dice[:, 0] * cumulative[-1]), k - 1)
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


def _signal(
  boxes_px: np.ndarray,
  objects_px: np.ndarray,
  focus_px: np.ndarray,
  config: NoisyConfig,
  rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
  """coverage [N, K] and s [N, K] of the module's first equation, s with its noise."""
  k = len(objects_px)
  whole_and_spot = np.concatenate([objects_px, focus_px])
  shared = box_geometry.intersection(boxes_px, whole_and_spot)  # [N, 2 K]
  shown = shared / np.maximum(box_geometry.area(whole_and_spot), 1)
  coverage, focus = shown[:, :k], shown[:, k:]
  purity = shared[:, :k] / np.maximum(box_geometry.area(boxes_px), 1)[:, None]
  boost = 2 * config.focus_boost * rng.random(k, np.float32)
  signal = purity**config.purity_power * (
    (1 - config.focus) * coverage**config.coverage_power + config.focus * focus
  )
  signal *= 1 + boost * focus * (1 - coverage)
  noise = _gaussian(rng, signal.shape)
  return coverage, signal * np.maximum(0, 1 + config.signal_noise * noise)


def _features(
  boxes_px: np.ndarray,
  coverage: np.ndarray,
  signal: np.ndarray,
  objects: _Objects,
  frame: np.ndarray,
  config: NoisyConfig,
  rng: np.random.Generator,
) -> np.ndarray:
  """[N, D] float32: the module's second equation."""
  n, size = config.regions, config.feature_size
  features = _gaussian(rng, (n, size))
  features *= config.noise / np.sqrt(size)
  features += _geometry(boxes_px, frame) @ _geometry_directions(size, config.geometry_weight)
  if objects.labels:
    rows = np.array(
      [
        _object_directions(label, words, config)
        for label, words in zip(objects.labels, objects.attributes, strict=True)
      ]
    )  # [K, 3, D]
    features += signal @ rows[:, 0]
    features += (signal * (1 - coverage)) @ rows[:, 1]
    wrong = rng.integers(0, len(rows), n)
    amount = config.confusion * rng.standard_exponential((n, 1), np.float32)
    features += amount * rows[wrong, 2]
  features *= config.rms * np.sqrt(size)
  return features


def _gaussian(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
  """Standard normal float32: random 16-bit numbers looked up among as many quantiles.

  Ten times as fast as `Generator.standard_normal`, which would be half of all work.
  """
  draws = np.frombuffer(rng.bytes(2 * shape[0] * shape[1]), "<u2")
  return _quantiles().take(draws).reshape(shape)


@functools.cache
def _quantiles() -> np.ndarray:
  """[65536] the normal distribution's quantiles in the middle of equal steps."""
  inverse = statistics.NormalDist().inv_cdf
  upper = [inverse((step + 0.5) / 65536) for step in range(32768, 65536)]
  return np.asarray([-z for z in reversed(upper)] + upper, np.float32)


@functools.lru_cache(maxsize=4096)
def _object_directions(label: str, attributes: tuple[str, ...], config: NoisyConfig) -> np.ndarray:
  """[3, D]: class with attributes, part, and class alone, each with its weight."""
  size = config.feature_size
  prototype = word_prototypes.class_prototype(label, size, config.similarity)
  described = prototype + config.attribute_weight * word_prototypes.attribute_direction(
    attributes, size
  )
  part = config.part_weight * word_prototypes.direction(f"part:{label}", size)
  return np.stack([described, part, prototype]).astype(np.float32)


def _geometry(boxes_px: np.ndarray, frame: np.ndarray) -> np.ndarray:
  """[N, 6]: centre, sides, area and wideness of each box, about -1 to 1."""
  boxes = boxes_px / frame[LOW]
  low, high = boxes[:, :2], boxes[:, 2:]
  sides = high - low
  width, height = sides[:, :1], sides[:, 1:]
  return np.concatenate(
    [low + high - 1, 2 * sides - 1, 2 * width * height - 1, width - height], axis=1
  )


@functools.lru_cache(maxsize=16)
def _geometry_directions(size: int, weight: float) -> np.ndarray:
  rows = [word_prototypes.direction(f"geometry:{i}", size) for i in range(6)]
  return (weight * np.stack(rows)).astype(np.float32)
