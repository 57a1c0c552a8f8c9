"""Puts records together into the dense, padded arrays that models take; NumPy only.

Pictures I, regions R, captions B = I * K, picture-major. Words sit where the vocabulary's
layout wants them:

    matcher    <start> w1 .. wn <end> <pad> ..    word t at slot t + 1, T = words + 2
    captioner  w1 .. wn 0 0 ..                    word t at slot t,     T = words + 1
"""

import dataclasses
import threading
from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from gcap_tf import box_geometry, errors
from gcap_tf.data import records
from gcap_tf.data.prepared import batch_plan, prepared_data
from gcap_tf.text import vocabulary as vocabularies

Part = Literal["regions", "captions"]
NOUN_TAGS = frozenset({"NOUN", "PROPN"})
VERB_TAGS = frozenset({"VERB"})


class Teacher(Protocol):
  """Attention that a matcher computed beforehand."""

  def get(self, caption_id: str) -> np.ndarray:
    """[words, regions] float32 of a caption's words, without wrappers."""


@dataclasses.dataclass(frozen=True)
class _Caption:
  """Word ids, nouns and verbs [words]; object words: slots [n], IoU with regions [n, r]."""

  caption_id: bytes
  ids: np.ndarray
  nouns: np.ndarray
  verbs: np.ndarray
  object_words: np.ndarray
  object_regions: np.ndarray


@dataclasses.dataclass(frozen=True)
class _Picture:
  """Arrays of one picture, cut to R regions; those of parts left out are empty."""

  image_id: bytes
  features: np.ndarray
  boxes: np.ndarray
  labels: np.ndarray
  blocks: np.ndarray
  global_feature: np.ndarray
  size: np.ndarray
  count: int
  captions: tuple[_Caption, ...]

  @property
  def bytes(self) -> int:
    arrays = (self.features, self.boxes, self.labels, self.blocks, self.global_feature)
    words = sum(len(caption.ids) for caption in self.captions)
    # A caption's Python objects weigh about 800 bytes beside its words.
    return sum(a.nbytes for a in arrays) + 6 * words + 800 * len(self.captions) + 500


class BatchMaker:
  """Makes batches of a split; keeps pictures in memory as far as the budget goes.

  Attributes:
    regions: R.
    feature_size, global_size: D, G.
    bounds: word counts that batches may be padded to.
  """

  def __init__(
    self,
    split: prepared_data.Split,
    vocabulary: vocabularies.Vocabulary,
    config: batch_plan.BatchConfig,
    parts: Sequence[Part] = ("regions", "captions"),
    teacher: Teacher | None = None,
  ):
    unknown = set(parts) - {"regions", "captions"}
    if unknown or not parts:
      raise ValueError(f"parts {parts}: choose of regions, captions")
    self._split = split
    self._vocabulary = vocabulary
    self._config = config
    self._parts = frozenset(parts)
    self._teacher = teacher
    self.regions = config.max_regions or max(split.data.max_regions, 1)
    self.feature_size = split.data.feature_size
    self.global_size = split.data.global_size or self.feature_size
    self.bounds = batch_plan.bounds(split, config)
    self._cache: dict[int, _Picture] = {}
    self._room = config.cache_bytes
    self._lock = threading.Lock()

  @property
  def gives_verbs(self) -> bool:
    """Whether batches hold `verb_mask`, which captioners alone can use."""
    return self._vocabulary.layout == "captioner"

  def slots(self, words: int) -> int:
    """T of a batch that has room for `words` words."""
    return words + (2 if self._vocabulary.layout == "matcher" else 1)

  def make(
    self, pictures: np.ndarray, captions: np.ndarray, filled: np.ndarray, words: int
  ) -> dict[str, np.ndarray]:
    """A batch.

    Args:
      pictures: [I] positions in the split.
      captions: [I, K] positions among the captions of the split.
      filled: [I] False on rows that only fill up the batch.
      words: room for words.
    """
    # Captions of one picture often share a batch: it is read once for all of them.
    read = {position: self._picture(position) for position in set(pictures.tolist())}
    rows = [read[position] for position in pictures.tolist()]
    batch = {
      "image_id": _strings(row.image_id for row in rows),
      "example_mask": np.array(filled, bool),
    }
    if "regions" in self._parts:
      batch |= self._region_arrays(rows)
    if "captions" in self._parts:
      numbers = captions - self._split.caption_starts[pictures][:, None]
      chosen = [
        (picture, picture.captions[number])
        for picture, own in zip(rows, numbers.tolist(), strict=True)
        for number in own
      ]
      batch |= self._caption_arrays(chosen, words)
    return batch

  def _region_arrays(self, rows: Sequence[_Picture]) -> dict[str, np.ndarray]:
    i, r = len(rows), self.regions
    features = np.zeros([i, r, self.feature_size], np.float32)
    boxes = np.zeros([i, r, 4], np.float32)
    region_mask = np.zeros([i, r], bool)
    labels = np.zeros([i, r], np.int32)
    for n, row in enumerate(rows):
      features[n, : row.count] = row.features
      boxes[n, : row.count] = row.boxes
      labels[n, : row.count] = row.labels
      region_mask[n, : row.count] = True
    batch = {
      "features": features,
      "boxes": boxes,
      "region_mask": region_mask,
      "region_labels": labels,
      "frame": np.zeros([i, r], np.int32),
      "global_feature": np.stack([row.global_feature for row in rows]),
      "image_size": np.stack([row.size for row in rows]),
    }
    if self._config.position_blocks:
      blocks = np.zeros([i, r, 2 * box_geometry.PFAN_BLOCKS], np.float32)
      blocks[:, :, : box_geometry.PFAN_BLOCKS] = box_geometry.PFAN_PAD
      for n, row in enumerate(rows):
        blocks[n, : row.count] = row.blocks
      batch["position_blocks"] = blocks
    return batch

  def _caption_arrays(
    self, chosen: Sequence[tuple[_Picture, _Caption]], words: int
  ) -> dict[str, np.ndarray]:
    b, t, r = len(chosen), self.slots(words), self.regions
    first = 1 if self._vocabulary.layout == "matcher" else 0
    tokens = np.zeros([b, t], np.int32)
    token_mask = np.zeros([b, t], bool)
    noun_mask, verb_mask = np.zeros([b, t], bool), np.zeros([b, t], bool)
    tokens[:, :first] = self._vocabulary.ids["<start>"] if first else 0
    for n, (_, caption) in enumerate(chosen):
      count = min(len(caption.ids), words)
      tokens[n, first : first + count] = caption.ids[:count]
      noun_mask[n, first : first + count] = caption.nouns[:count]
      verb_mask[n, first : first + count] = caption.verbs[:count]
      if first:
        tokens[n, first + count] = self._vocabulary.ids["<end>"]
      token_mask[n, : first + count + 1] = True
    batch = {
      "tokens": tokens,
      "token_mask": token_mask,
      "noun_mask": noun_mask,
      "caption_id": _strings(caption.caption_id for _, caption in chosen),
    }
    if self.gives_verbs:
      batch["verb_mask"] = verb_mask
    if "regions" in self._parts:
      targets = np.zeros([b, t, r], np.float32)
      for n, (picture, caption) in enumerate(chosen):
        kept = caption.object_words < words
        slots = caption.object_words[kept] + first
        targets[n, slots, : picture.count] = caption.object_regions[kept]
      batch["target_regions"] = targets
    if self._teacher is not None:
      batch["teacher_attention"] = self._teacher_attention(chosen, words, first, t)
    return batch

  def _teacher_attention(
    self, chosen: Sequence[tuple[_Picture, _Caption]], words: int, first: int, t: int
  ) -> np.ndarray:
    attention = np.zeros([len(chosen), t, self.regions], np.float32)
    for n, (_, caption) in enumerate(chosen):
      rows = self._teacher.get(caption.caption_id.decode())[:words, : self.regions]
      attention[n, first : first + rows.shape[0], : rows.shape[1]] = rows
    return attention

  def _picture(self, position: int) -> _Picture:
    cached = self._cache.get(position)
    if cached is not None:
      return cached
    picture = self._encode(self._split.record(position))
    with self._lock:
      if position not in self._cache and picture.bytes <= self._room:
        self._cache[position] = picture
        self._room -= picture.bytes
    return picture

  def _encode(self, record: records.Record) -> _Picture:
    regions, wants_regions = record.regions, "regions" in self._parts
    r = min(regions.count, self.regions) if wants_regions else 0
    boxes_px = np.zeros([r, 4], np.float32)
    if regions.boxes_px is not None:
      boxes_px = regions.boxes_px[:r]
    boxes = boxes_px
    if boxes_px.any():
      if not (record.width and record.height):
        raise errors.UserError(
          f"picture {record.image_id} has boxes but no size; prepare the data with picture sizes"
        )
      boxes = box_geometry.normalise(boxes_px, record.width, record.height)
    features = np.zeros([r, self.feature_size], np.float32)
    if regions.features is not None:
      features = regions.features[:r]
    labels = np.zeros([r], np.int32)
    if regions.labels:
      labels[:] = [self._vocabulary.label_ids.get(label, 0) for label in regions.labels[:r]]
    wants_blocks = wants_regions and self._config.position_blocks
    return _Picture(
      image_id=record.image_id.encode(),
      features=features,
      boxes=boxes,
      labels=labels,
      blocks=_blocks(regions, boxes) if wants_blocks else boxes[:0],
      global_feature=self._global_feature(regions, features),
      size=np.array([record.width, record.height], np.float32),
      count=r,
      captions=self._encode_captions(record, boxes_px) if "captions" in self._parts else (),
    )

  def _global_feature(self, regions: records.Regions, features: np.ndarray) -> np.ndarray:
    if regions.global_feature is not None:
      return regions.global_feature
    return features.mean(axis=0) if len(features) else np.zeros(self.feature_size, np.float32)

  def _encode_captions(self, record: records.Record, boxes_px: np.ndarray) -> tuple[_Caption, ...]:
    objects = [thing.box_px for caption in record.captions for thing in caption.objects]
    object_boxes = np.array(objects, np.float32).reshape(-1, 4)
    overlap = box_geometry.iou(object_boxes, boxes_px).astype(np.float32)  # [objects, r]
    encoded, done = [], 0
    for caption in record.captions:
      ids, nouns, verbs = self._encode_words(caption)
      count = len(caption.objects)
      words = np.array([thing.index for thing in caption.objects], np.int64)
      own = overlap[done : done + count]
      encoded.append(_Caption(caption.caption_id.encode(), ids, nouns, verbs, words, own))
      done += count
    return tuple(encoded)

  def _encode_words(self, caption: records.Caption) -> tuple[np.ndarray, ...]:
    """Ids, nouns and verbs of a caption, [words] each."""
    known, unknown = self._vocabulary.ids, self._vocabulary.unknown_id
    ids = np.array([known.get(word, unknown) for word in caption.tokens], np.int32)
    tags = caption.tags or ("",) * len(ids)
    nouns = np.array([tag in self._config.noun_tags for tag in tags], bool)
    verbs = np.array([tag in VERB_TAGS for tag in tags], bool)
    if self._vocabulary.layout == "captioner":
      # What a captioner has to call UNK names nothing that its attention could be taught.
      nouns &= ids != unknown
    return ids, nouns, verbs


def _blocks(regions: records.Regions, boxes: np.ndarray) -> np.ndarray:
  """[r, 30] PFAN's blocks: the source's own, or computed from boxes [r, 4] from 0 to 1."""
  if regions.position_blocks is not None:
    return regions.position_blocks[: len(boxes)]
  return box_geometry.pfan_blocks(boxes)


def _strings(values) -> np.ndarray:
  return np.array(list(values), object)
