"""Verifies a prepared folder to the last byte, and reports what is in it."""

import collections
import dataclasses
import pathlib
from collections.abc import Iterator

import numpy as np

from gcap_tf import errors, files, progress
from gcap_tf.data import records, target_regions, validation
from gcap_tf.data.prepared import prepared_data, prepared_writer, shards

MOST_FAULTS = 20
FOUND_IOU = 0.5
_BAR_WIDTH = 40


@dataclasses.dataclass
class SplitReport:
  """Counts over the records of a split.

  Attributes:
    pictures, captions, words, objects: how many were read.
    with_boxes: pictures whose regions carry boxes.
    regions: regions of each picture.
    lengths: captions by their number of words.
    objects_per_caption: captions by their number of annotated object words.
    tagged: captions with parts of speech.
    reachable: object words that some region overlaps by more than half.
    word_counts, label_counts: of tokens and region labels.
  """

  pictures: int = 0
  captions: int = 0
  words: int = 0
  objects: int = 0
  with_boxes: int = 0
  tagged: int = 0
  reachable: int = 0
  regions: list[int] = dataclasses.field(default_factory=list)
  lengths: collections.Counter = dataclasses.field(default_factory=collections.Counter)
  objects_per_caption: collections.Counter = dataclasses.field(default_factory=collections.Counter)
  word_counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
  label_counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)

  def add(self, record: records.Record) -> None:
    regions = record.regions
    self.pictures += 1
    self.regions.append(regions.count)
    self.with_boxes += regions.boxes_px is not None
    self.label_counts.update(label for label in regions.labels if label)
    for caption in record.captions:
      self.captions += 1
      self.words += len(caption.tokens)
      self.objects += len(caption.objects)
      self.tagged += bool(caption.tags)
      self.lengths[len(caption.tokens)] += 1
      self.objects_per_caption[len(caption.objects)] += 1
      self.word_counts.update(caption.tokens)
      if caption.objects and regions.boxes_px is not None:
        for thing in caption.objects:
          self.reachable += target_regions.overlaps(thing, regions).max(initial=0) > FOUND_IOU


@dataclasses.dataclass
class Report:
  """What `check` found.

  Attributes:
    data: the folder's description.
    splits: counts of every split.
    faults: one line each, naming file and record; empty if there are none.
  """

  data: prepared_data.PreparedData
  splits: dict[str, SplitReport]
  faults: list[str]

  def text(self) -> str:
    """The report for people."""
    return "\n".join([*self._head(), *(line for name in self.splits for line in self._split(name))])

  def _head(self) -> Iterator[str]:
    info = self.data.info
    size = sum(entry["bytes"] for entry in info["files"].values())
    yield f"{self.data.folder}: {info['dataset']}, {len(info['files'])} files, {size / 1e6:,.1f} MB"
    yield f"  made by: {info['command']}"
    yield (
      f"  regions: up to {self.data.max_regions} a picture, features of {self.data.feature_size}"
      f"{', labels' if self.data.has_labels else ''}"
      f"{'' if self.data.has_boxes else '; WITHOUT BOXES: grounding cannot be measured'}"
    )
    yield f"  object classes: {len(self.data.object_classes)}"

  def _split(self, name: str) -> Iterator[str]:
    split = self.splits[name]
    if not split.pictures:
      return
    known = self.data.info["word_counts"]
    least, most, mean = min(split.regions), max(split.regions), np.mean(split.regions)
    yield f"{name}: {split.pictures:,} pictures, {split.captions:,} captions, {split.words:,} words"
    yield f"  with boxes      {split.with_boxes / split.pictures:.1%} of pictures"
    yield f"  regions         {mean:.1f} a picture ({least} to {most})"
    if not split.captions:
      return
    yield f"  parts of speech {split.tagged / split.captions:.1%} of captions"
    yield (
      f"  object words    {split.objects / split.captions:.2f} a caption; "
      f"{split.objects_per_caption[0] / split.captions:.1%} of captions have none"
    )
    if split.objects:
      yield (
        f"  within reach    {split.reachable / split.objects:.1%} of object words have a region "
        f"at IoU > {FOUND_IOU}"
      )
    covered = [
      sum(n for word, n in split.word_counts.items() if known.get(word, 0) >= least_count)
      / split.words
      for least_count in (1, 4, 6)
    ]
    yield (
      f"  vocabulary      {covered[0]:.2%} of words are in train, "
      f"{covered[1]:.2%} at 4 times or more, {covered[2]:.2%} at 6"
    )
    yield "  caption lengths"
    highest = max(split.lengths.values())
    for words, count in sorted(split.lengths.items()):
      yield f"  {words:5d} {count:8,d} {'#' * round(_BAR_WIDTH * count / highest)}"


def check(folder: files.PathLike) -> Report:
  """Reads everything: hashes, checksums, every record, all counts.

  Raises:
    UserError: the folder cannot be opened, or a file is missing or of another size.
  """
  data = prepared_data.PreparedData(folder)
  faults = _Faults()
  entries = data.info["files"]
  for name in progress.bar(entries, label="Hashing files", unit="file"):
    if files.sha256(data.folder / name) != entries[name]["sha256"]:
      faults.add(f"{data.folder / name} is not the file that was written (sha256 differs)")
  splits = {name: _check_split(data, name, faults) for name in data.splits}
  _check_counts(data, splits, faults)
  return Report(data, splits, faults.lines)


class _Faults:
  """Collects faults; gives up after MOST_FAULTS."""

  def __init__(self):
    self.lines: list[str] = []

  def add(self, line: str) -> None:
    self.lines.append(line)
    if len(self.lines) >= MOST_FAULTS:
      raise errors.UserError(
        f"{len(self.lines)} faults, giving up; the first: {self.lines[0]}; {shards.FIX}"
      )


def _check_split(data: prepared_data.PreparedData, name: str, faults: _Faults) -> SplitReport:
  report = SplitReport()
  try:
    split = data.split(name)
  except errors.UserError as error:
    faults.add(str(error))
    return report
  where = str(data.folder)
  for position in progress.bar(range(len(split)), label=f"Checking {name}", unit="picture"):
    try:
      record = split.record(position)
      validation.check_record(record, where)
      _check_entry(data, split, position, record)
    except errors.UserError as error:
      faults.add(str(error))
    else:
      report.add(record)
  return report


def _check_entry(
  data: prepared_data.PreparedData,
  split: prepared_data.Split,
  position: int,
  record: records.Record,
) -> None:
  """Checks that the record agrees with the index and the description."""
  start = split.caption_starts[position]
  words = split.words[start : start + split.captions[position]].tolist()
  if words != [len(caption.tokens) for caption in record.captions]:
    what = "captions"
  elif split.regions[position] != record.regions.count:
    what = "regions"
  elif record.split != split.name:
    what = f"split ({record.split})"
  else:
    kind = dataclasses.asdict(prepared_writer.RegionKind.of(record.regions))
    wrong = [name for name, value in kind.items() if data.info.get(name, False) != value]
    what = ", ".join(wrong)
  if what:
    index = pathlib.Path(data.folder) / prepared_writer.index_name(split.name)
    raise errors.UserError(
      f"{index} or dataset.json disagrees with picture {record.image_id} on its {what}; "
      f"{shards.FIX}"
    )


def _check_counts(
  data: prepared_data.PreparedData, splits: dict[str, SplitReport], faults: _Faults
) -> None:
  if faults.lines:
    return  # Counts without the unreadable records would differ for the same reason.
  path = data.folder / "dataset.json"
  for name, report in splits.items():
    for what in ("pictures", "captions", "words", "objects"):
      found, stated = getattr(report, what), data.info["splits"][name][what]
      if found != stated:
        faults.add(f"{path} states {stated} {what} in {name}, the records have {found}")
  source = splits.get(prepared_writer.VOCABULARY_SPLIT)
  if source is not None:
    for what, counts in (
      ("word_counts", source.word_counts),
      ("region_labels", source.label_counts),
    ):
      if data.info[what] != counts:
        faults.add(f"{path}: {what} differ from those of the records")
