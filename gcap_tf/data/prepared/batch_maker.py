"""Puts records together into the dense, padded arrays that models take; NumPy only.

A batch has I pictures and B = I * (captions per picture) captions, picture-major.
gcap_tf/batch.py says what it holds and where words sit.
"""

import dataclasses
import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from gcap_tf import batch, box_geometry, errors
from gcap_tf import config as configs
from gcap_tf.data import records, target_regions
from gcap_tf.data.prepared import batch_plan, prepared_data
from gcap_tf.text import vocabulary as vocabularies

NOUN_TAGS = frozenset({"NOUN", "PROPN"})
VERB_TAGS = frozenset({"VERB"})


class Teacher(Protocol):
  """Attention that a matcher computed beforehand."""

  def get(self, caption_id: str) -> np.ndarray:
    """[words, regions] float32 of a caption's words, without wrappers."""


@dataclasses.dataclass(frozen=True)
class _Caption:
  """Word ids and kinds of words [words]; object words: positions [n], IoU with regions [n, r]."""

  caption_id: bytes
  ids: np.ndarray
  nouns: np.ndarray
  verbs: np.ndarray
  taught: np.ndarray
  object_words: np.ndarray
  object_regions: np.ndarray

  def row(self, words: int) -> dict[str, Any]:
    """The caption as a row of a batch, cut to `words` words."""
    return {
      "caption_id": self.caption_id,
      "tokens": self.ids[:words],
      "noun_mask": self.nouns[:words],
      "verb_mask": self.verbs[:words],
      "teacher_words": self.taught[:words],
    }


@dataclasses.dataclass(frozen=True)
class _Picture:
  """A picture as a row of a batch, cut to R regions, and its captions; parts left out are empty."""

  row: dict[str, Any]
  captions: tuple[_Caption, ...]

  @property
  def bytes(self) -> int:
    arrays = sum(np.asarray(value).nbytes for value in self.row.values())
    words = sum(len(caption.ids) for caption in self.captions)
    # The Python objects of a caption take about 800 bytes besides its words.
    return arrays + 6 * words + 800 * len(self.captions) + 500


class BatchMaker:
  """Makes batches of a split; keeps pictures in memory as long as the budget allows.

  Attributes:
    names: entries of the batches.
    sizes: size of every letter that all batches share: R, D, G, C, M.
    bounds: word counts that batches may be padded to.
  """

  def __init__(
    self,
    split: prepared_data.Split,
    vocabulary: vocabularies.Vocabulary,
    config: batch_plan.BatchConfig,
    parts: Sequence[batch.Part] = ("regions", "captions"),
    teacher: Teacher | None = None,
  ):
    self._split = split
    self._vocabulary = vocabulary
    self._config = configs.check(config, "batches")
    self._parts = frozenset(parts)
    self._teacher = teacher
    self._is_matcher = vocabulary.layout == "matcher"
    optional = {
      "region_scores": "regions" in parts and split.data.has_scores,
      "grid_features": "regions" in parts and split.data.grid_size,
      "grid_mask": "regions" in parts and split.data.grid_size,
      "segment": "regions" in parts and split.data.grid_size and split.data.frames > 1,
      "position_blocks": config.position_blocks,
      "verb_mask": not self._is_matcher,
      "teacher_attention": teacher is not None,
      "teacher_words": teacher is not None,
    }
    self.names = batch.names(parts, [name for name, wanted in optional.items() if wanted])
    self.sizes = {
      "R": config.max_regions or max(split.data.max_regions, 1),
      "D": split.data.feature_size,
      "G": split.data.batch_global_size,
      "C": split.data.grid_cells,
      "M": split.data.grid_size,
    }
    self.bounds = batch_plan.bounds(split, config)
    self._cache: dict[int, _Picture] = {}
    self._room = config.cache_bytes
    self._lock = threading.Lock()

  def slots(self, words: int) -> int:
    """T of a batch that has room for `words` words."""
    return words + (2 if self._is_matcher else 1)

  def make(
    self, pictures: np.ndarray, captions: np.ndarray, filled: np.ndarray, words: int
  ) -> batch.Arrays:
    """A batch.

    Args:
      pictures: [I] positions in the split.
      captions: [I, captions per picture] positions among the captions of the split.
      filled: [I] False on rows that only fill up the batch.
      words: room for words.
    """
    # Captions of one picture often share a batch: it is read once for all of them.
    read = {position: self._picture(position) for position in set(pictures.tolist())}
    chosen = [read[position] for position in pictures.tolist()]
    by_picture = [name for name in self.names if batch.ENTRIES[name].shape[0] == "I"]
    arrays = batch.build([picture.row for picture in chosen], by_picture, self.sizes)
    arrays["example_mask"] = np.array(filled, bool)
    if "captions" in self._parts:
      numbers = captions - self._split.caption_starts[pictures][:, None]
      rows = [
        picture.captions[number]
        for picture, own in zip(chosen, numbers.tolist(), strict=True)
        for number in own
      ]
      arrays |= self._caption_arrays(rows, words)
    return arrays

  def _caption_arrays(self, captions: Sequence[_Caption], words: int) -> batch.Arrays:
    wanted = [name for name in self.names if batch.ENTRIES[name].shape[0] == "B"]
    sizes = {**self.sizes, "T": self.slots(words)}
    rows = [caption.row(words) for caption in captions]
    if self._teacher is not None:
      for row in rows:
        attention = self._teacher.get(row["caption_id"].decode())
        row["teacher_attention"] = attention[:words, : self.sizes["R"]]
    special = self._vocabulary.ids
    ends = {"start": special["<start>"], "end": special["<end>"]} if self._is_matcher else {}
    arrays = batch.build_captions(rows, wanted, sizes, **ends)
    if "target_regions" in arrays:
      first = 1 if self._is_matcher else 0
      for targets, caption in zip(arrays["target_regions"], captions, strict=True):
        kept = caption.object_words < words
        overlap = caption.object_regions[kept]
        targets[caption.object_words[kept] + first, : overlap.shape[1]] = overlap
    return arrays

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
    count = min(regions.count, self.sizes["R"]) if wants_regions else 0
    boxes_px = np.zeros([count, 4], np.float32)
    if regions.boxes_px is not None:
      boxes_px = regions.boxes_px[:count]
    row = {"image_id": record.image_id.encode()}
    if wants_regions:
      row |= self._region_row(record, boxes_px)
    captions = self._encode_captions(record, count) if "captions" in self._parts else ()
    return _Picture(row, captions)

  def _region_row(self, record: records.Record, boxes_px: np.ndarray) -> dict[str, Any]:
    regions, count = record.regions, len(boxes_px)
    boxes = boxes_px
    if boxes_px.any():
      if not (record.width and record.height):
        raise errors.UserError(
          f"picture {record.image_id} has boxes but no size; prepare the data with picture sizes"
        )
      boxes = _normalised(record, boxes_px)
    row = {"boxes": boxes, "image_size": np.array([record.width, record.height], np.float32)}
    if regions.features is not None:
      row["features"] = regions.features[:count]
    if regions.labels:
      label_ids = self._vocabulary.label_ids
      labels = [label_ids.get(label, 0) for label in regions.labels[:count]]
      row["region_labels"] = np.array(labels, np.int32)
    if regions.global_feature is not None:
      row["global_feature"] = regions.global_feature
    if regions.frame is not None:
      row["frame"] = regions.frame[:count]
    if "region_scores" in self.names:
      # Regions that nobody scored count in full.
      given = regions.scores
      row["region_scores"] = np.ones(count, np.float32) if given is None else given[:count]
    if regions.grid_features is not None:
      row["grid_features"] = regions.grid_features
      row["grid_mask"] = np.ones(len(regions.grid_features), bool)
    if regions.span is not None:
      row["segment"] = np.array(regions.span, np.int32)
    if "position_blocks" in self.names:
      row["position_blocks"] = _blocks(regions, boxes)
    row = batch.region_row(count, **row)
    if record.segment is not None:
      whole = row.get("global_feature", np.zeros(self.sizes["G"] - records.POSITION, np.float32))
      row["global_feature"] = np.concatenate([whole, record.segment.position])
    return row

  def _encode_captions(self, record: records.Record, count: int) -> tuple[_Caption, ...]:
    objects = [thing for caption in record.captions for thing in caption.objects]
    overlap = target_regions.all_overlaps(objects, record.regions, count)  # [objects, r]
    encoded, done = [], 0
    for caption in record.captions:
      of_words = self._encode_words(caption)
      count = len(caption.objects)
      words = np.array([thing.index for thing in caption.objects], np.int64)
      own = overlap[done : done + count]
      encoded.append(_Caption(caption.caption_id.encode(), *of_words, words, own))
      done += count
    return tuple(encoded)

  def _encode_words(self, caption: records.Caption) -> tuple[np.ndarray, ...]:
    """Ids, nouns, verbs and words of a teacher of a caption, [words] each."""
    known, unknown = self._vocabulary.ids, self._vocabulary.unknown_id
    ids = np.array([known.get(word, unknown) for word in caption.tokens], np.int32)
    tags = caption.tags or ("",) * len(ids)
    wanted = (self._config.noun_tags, VERB_TAGS, self._config.teacher_tags)
    nouns, verbs, taught = (np.array([tag in kind for tag in tags], bool) for kind in wanted)
    if not self._is_matcher:
      # A word outside the vocabulary (UNK) has no meaning that attention could learn.
      nouns &= ids != unknown
      taught &= ids != unknown
    return ids, nouns, verbs, taught


def _normalised(record: records.Record, boxes_px: np.ndarray) -> np.ndarray:
  """Boxes from 0 to 1; those of an upright video reach below its square frame, so above 1."""
  if record.segment is None:
    return box_geometry.normalise(boxes_px, record.width, record.height)
  return boxes_px / np.array([record.width, record.height] * 2, np.float32)


def _blocks(regions: records.Regions, boxes: np.ndarray) -> np.ndarray:
  """[r, 30] PFAN's blocks: the source's own, or computed from boxes [r, 4] from 0 to 1."""
  if regions.position_blocks is not None:
    return regions.position_blocks[: len(boxes)]
  return box_geometry.pfan_blocks(boxes)
