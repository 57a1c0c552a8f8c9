"""Writes a prepared folder: one shard at a time, then the files that describe them.

`write_shard` may run anywhere and in any order; it leaves a shard and two part files in
the folder and returns a summary. `finish` puts the summaries together in the order of the
shards, so that the bytes of the folder do not depend on the order of writing.
"""

import collections
import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data import records, reference_files
from gcap_tf.data.prepared import shards
from gcap_tf.text import lemmas

FORMAT = "gcap_tf prepared data"
VERSION = 1
VOCABULARY_SPLIT = "train"


@dataclasses.dataclass
class ShardSummary:
  """Facts about a shard that `finish` needs.

  Attributes:
    split, number, count: the shard is `number` of `count` of its split.
    offsets, sizes: byte offset of each record, and bytes of its data.
    image_ids: of each record.
    captions: captions of each record.
    words: words of each caption, in order.
    regions: regions of each record.
    cells: most grid cells of any record.
    frames: most frames of any record; 1 for pictures.
    scored: records whose regions have scores.
    own_global: records whose global feature is not the mean of their regions.
    objects: annotated object words of the shard.
    kind: which data the regions of every record have; None if the shard has no record.
    word_counts, label_counts, class_counts: of tokens, region labels, object words.
    bytes, sha256: of the shard file.
  """

  split: str
  number: int
  count: int
  offsets: list[int] = dataclasses.field(default_factory=list)
  sizes: list[int] = dataclasses.field(default_factory=list)
  image_ids: list[str] = dataclasses.field(default_factory=list)
  captions: list[int] = dataclasses.field(default_factory=list)
  words: list[int] = dataclasses.field(default_factory=list)
  regions: list[int] = dataclasses.field(default_factory=list)
  cells: int = 0
  frames: int = 1
  scored: int = 0
  own_global: int = 0
  objects: int = 0
  kind: "RegionKind | None" = None
  word_counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
  label_counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
  class_counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
  bytes: int = 0
  sha256: str = ""

  def to_json(self) -> dict[str, Any]:
    kind = dataclasses.asdict(self.kind) if self.kind else None
    return {**vars(self), "kind": kind}

  @classmethod
  def from_json(cls, values: dict[str, Any]) -> "ShardSummary":
    summary = cls(**values)
    summary.kind = RegionKind(**values["kind"]) if values["kind"] else None
    return summary


@dataclasses.dataclass(frozen=True)
class RegionKind:
  """Which data the regions of a dataset have; the same for every picture."""

  has_boxes: bool
  has_features: bool
  feature_size: int
  global_size: int
  has_position_blocks: bool = False
  grid_size: int = 0

  @classmethod
  def of(cls, regions: records.Regions) -> "RegionKind":
    return cls(
      has_boxes=regions.boxes_px is not None,
      has_features=regions.features is not None,
      feature_size=0 if regions.features is None else regions.features.shape[1],
      global_size=0 if regions.global_feature is None else len(regions.global_feature),
      has_position_blocks=regions.position_blocks is not None,
      grid_size=0 if regions.grid_features is None else regions.grid_features.shape[1],
    )

  def check_like(self, first: "RegionKind | None", where: str) -> "RegionKind":
    """Returns itself if the regions before it were of the same kind."""
    if first is not None and self != first:
      changed = [
        f"{name} {before} -> {getattr(self, name)}"
        for name, before in dataclasses.asdict(first).items()
        if getattr(self, name) != before
      ]
      raise errors.UserError(
        f"{where}: its regions are of another kind than those before ({', '.join(changed)}); "
        "one prepared folder holds one kind of regions"
      )
    return self


def shard_name(split: str, number: int, count: int) -> str:
  return f"{split}-{number:05d}-of-{count:05d}.tfrecord"


def index_name(split: str) -> str:
  return f"index_{split}.npz"


def write_shard(
  folder: files.PathLike,
  split: str,
  number: int,
  count: int,
  items: Iterable[records.Record],
) -> ShardSummary:
  """Writes records, whose regions are set, as shard `number` of `count` of a split."""
  folder = pathlib.Path(folder)
  summary = ShardSummary(split, number, count)
  with (
    shards.ShardWriter(folder / shard_name(split, number, count)) as writer,
    contextlib.ExitStack() as stack,
  ):
    parts = {
      kind: stack.enter_context(
        open(reference_files.part_path(folder, kind, split, number), "w", encoding="utf-8")
      )
      for kind in reference_files.PARTS
    }
    for record in items:
      where = f"picture {record.image_id} of split {split}"
      if record.regions is None:
        raise errors.UserError(f"{where} has no regions; give it some before it is written")
      data = shards.encode(record)
      summary.offsets.append(writer.write(data))
      summary.sizes.append(len(data))
      _count(summary, record, where)
      for kind, rows in reference_files.PARTS.items():
        parts[kind].writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(record))
    summary.bytes, summary.sha256 = writer.size, writer.sha256.hexdigest()
  return summary


def finish(
  folder: files.PathLike,
  summaries: Sequence[ShardSummary],
  *,
  dataset: str,
  command: str,
  detector: Mapping[str, Any],
  object_classes: Sequence[str] | None = None,
  lemma: Callable[[str], str] = lemmas.lemma,
) -> None:
  """Writes index, reference and caption files of every split, and dataset.json.

  Args:
    folder: where `write_shard` wrote.
    summaries: one per shard, all shards of every split.
    dataset: name of the dataset.
    command: what makes this folder again.
    detector: source of the regions.
    object_classes: classes of object words; by default those that the captions use, most
      frequent first.
    lemma: of an object class.
  """
  folder = pathlib.Path(folder)
  ordered = sorted(summaries, key=lambda summary: summary.number)
  by_split: dict[str, list[ShardSummary]] = {}
  for summary in ordered:
    by_split.setdefault(summary.split, []).append(summary)
  by_split = {split: by_split[split] for split in sorted(by_split, key=_split_order)}
  kind = _check_whole(by_split)
  if object_classes is None:
    used = collections.Counter(_added(ordered, "class_counts"))
    object_classes = sorted(used, key=lambda name: (-used[name], name))

  checksums: dict[str, dict[str, Any]] = {}
  for split, members in by_split.items():
    _write_index(folder / index_name(split), members)
    reference_files.join_references(
      folder / f"references_{split}.json",
      object_classes,
      lemma,
      _part_paths(folder, "references", members),
    )
    reference_files.join_parts(
      folder / f"captions_{split}.json",
      {"info": {"description": f"{dataset} {split}"}, "licenses": [], "type": "captions"},
      {
        "images": _part_paths(folder, "images", members),
        "annotations": _part_paths(folder, "captions", members),
      },
    )
    for member in members:
      name = shard_name(split, member.number, member.count)
      checksums[name] = {"bytes": member.bytes, "sha256": member.sha256}
    for name in (index_name(split), f"references_{split}.json", f"captions_{split}.json"):
      path = folder / name
      checksums[name] = {"bytes": path.stat().st_size, "sha256": files.sha256(path)}

  vocabulary = by_split.get(VOCABULARY_SPLIT, [])
  files.write_json(
    folder / "dataset.json",
    files.seal(
      {
        "format": FORMAT,
        "version": VERSION,
        "dataset": dataset,
        "command": command,
        "splits": {split: _totals(members) for split, members in by_split.items()},
        **dataclasses.asdict(kind),
        "has_labels": any(summary.label_counts for summary in ordered),
        "max_regions": max(max(summary.regions, default=0) for summary in ordered),
        "has_scores": any(summary.scored for summary in ordered),
        "global_is_mean": kind.global_size > 0
        and not any(summary.own_global for summary in ordered),
        "grid_cells": max(summary.cells for summary in ordered),
        "frames": max(summary.frames for summary in ordered),
        "detector": dict(detector),
        "files": checksums,
        "caption_lengths": {split: _lengths(members) for split, members in by_split.items()},
        "object_classes": list(object_classes),
        "object_counts": _added(vocabulary, "class_counts"),
        "region_labels": _added(vocabulary, "label_counts"),
        "word_counts": _added(vocabulary, "word_counts"),
      }
    ),
    indent=1,
  )


def _count(summary: ShardSummary, record: records.Record, where: str) -> None:
  regions = record.regions
  summary.kind = RegionKind.of(regions).check_like(summary.kind, where)
  summary.image_ids.append(record.image_id)
  summary.captions.append(len(record.captions))
  summary.regions.append(regions.count)
  summary.frames = max(summary.frames, record.frames)
  summary.scored += regions.scores is not None
  summary.own_global += _has_own_global(regions)
  if regions.grid_features is not None:
    summary.cells = max(summary.cells, len(regions.grid_features))
  summary.label_counts.update(label for label in regions.labels if label)
  for caption in record.captions:
    summary.words.append(len(caption.tokens))
    summary.word_counts.update(caption.tokens)
    summary.objects += len(caption.objects)
    summary.class_counts.update(thing.name for thing in caption.objects)


def _has_own_global(regions: records.Regions) -> bool:
  """Whether the global feature is something other than the mean of the region features."""
  if regions.global_feature is None or regions.features is None or not regions.count:
    return regions.global_feature is not None
  mean = regions.features.mean(axis=0, dtype=np.float32)
  found = regions.global_feature
  return found.shape != mean.shape or not np.allclose(found, mean, rtol=1e-3, atol=1e-5)


def _check_whole(by_split: Mapping[str, Sequence[ShardSummary]]) -> RegionKind:
  """Every split complete and filled, regions of one kind, no picture twice."""
  if not by_split:
    raise errors.UserError("nothing to write: the dataset has no splits")
  kind, seen = None, {}
  for split, members in by_split.items():
    if [member.number for member in members] != list(range(members[0].count)):
      raise ValueError(f"split {split}: shards {[member.number for member in members]} written")
    if not any(member.image_ids for member in members):
      raise errors.UserError(f"split {split} is empty: no picture of it could be read")
    for member in members:
      if member.kind is not None:
        kind = member.kind.check_like(kind, f"split {split}, shard {member.number}")
      for image_id in member.image_ids:
        if image_id in seen:
          raise errors.UserError(
            f"picture {image_id} occurs twice, in split {seen[image_id]} and in split {split}"
          )
        seen[image_id] = split
  return kind


def _write_index(path: pathlib.Path, members: Sequence[ShardSummary]) -> None:
  def joined(name: str, dtype) -> np.ndarray:
    return np.array([value for member in members for value in getattr(member, name)], dtype)

  shard_of = [member.number for member in members for _ in member.offsets]
  np.savez(
    path,
    shard=np.array(shard_of, np.int32),
    offset=joined("offsets", np.int64),
    size=joined("sizes", np.int64),
    image_ids=joined("image_ids", np.str_),
    captions=joined("captions", np.int32),
    words=joined("words", np.int32),
    regions=joined("regions", np.int32),
  )


def _totals(members: Sequence[ShardSummary]) -> dict[str, int]:
  return {
    "shards": len(members),
    "pictures": sum(len(member.image_ids) for member in members),
    "captions": sum(sum(member.captions) for member in members),
    "words": sum(sum(member.words) for member in members),
    "objects": sum(member.objects for member in members),
  }


def _lengths(members: Sequence[ShardSummary]) -> list[int]:
  """Captions of 0, 1, 2, ... words."""
  words = [words for member in members for words in member.words]
  return np.bincount(np.array(words, np.int64)).tolist()


def _added(members: Sequence[ShardSummary], name: str) -> dict[str, int]:
  """Counts of all shards, words in order of first appearance."""
  total: collections.Counter = collections.Counter()
  for member in members:
    total.update(getattr(member, name))
  return dict(total)


def _split_order(split: str) -> tuple[int, str]:
  known = ("train", "val", "test")
  return (known.index(split) if split in known else len(known), split)


def _part_paths(
  folder: pathlib.Path, kind: str, members: Sequence[ShardSummary]
) -> list[pathlib.Path]:
  return [
    reference_files.part_path(folder, kind, member.split, member.number) for member in members
  ]
