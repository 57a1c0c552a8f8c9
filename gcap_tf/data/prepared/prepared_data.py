"""Opens a prepared folder and reads its records by random access.

dataset.json                     contents; sizes and hashes of every file
{split}-00000-of-00008.tfrecord  records (gcap_tf/data/prepared/shards.py)
index_{split}.npz                where each record is, and its counts
references_{split}.json          object words and boxes, for grounding scores
captions_{split}.json            captions in COCO's schema, for caption scores
"""

import collections
import functools
import pathlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from gcap_tf import commands, errors, files
from gcap_tf.data import records
from gcap_tf.data.prepared import prepared_writer, shards
from gcap_tf.text import vocabulary as vocabularies

# Slower reads are logged, so that a stalled run has an explanation.
SLOW_READ_SECONDS = 10.0
# Splits whose captions are counted for a vocabulary.
VocabularySplits = Literal["train", "train_val", "all"]
_INDEX_ARRAYS = ("shard", "offset", "size", "image_ids", "captions", "words", "regions")


class PreparedData:
  """A prepared folder, checked for whole files (sizes, not contents) when it is opened.

  Attributes:
    folder: where it is.
    info: the content of dataset.json.
    name: the dataset's name.
    feature_size: D; 0 if regions carry no features.
    global_size: G as stored; 0 if batches take the mean of the region features.
    global_is_mean: whether that mean is what is stored.
    grid_size, grid_cells: M, and the most cells of any picture; 0 if there is no grid.
    frames: most frames of any record; 1 for pictures.
    max_regions: most regions of any picture.
    has_boxes, has_features, has_labels, has_scores, has_position_blocks: which data regions have.
    object_classes: names of annotated objects.
  """

  def __init__(self, folder: files.PathLike):
    self.folder = pathlib.Path(folder)
    if not (self.folder / "dataset.json").exists():
      raise errors.UserError(
        f"{self.folder} is not a prepared folder: it has no dataset.json; "
        f"make one with {commands.command('prepare_data')}"
      )
    path = self.folder / "dataset.json"
    self.info: dict[str, Any] = files.read_json(path, "dataset description")
    self._check_format()
    self.info = files.unseal(self.info, path, "dataset description")
    self._check_sizes()
    self.name: str = self.info["dataset"]
    self.feature_size: int = self.info["feature_size"]
    self.global_size: int = self.info["global_size"]
    # Folders of earlier versions do not say; equal sizes meant the mean.
    self.global_is_mean: bool = self.info.get(
      "global_is_mean", 0 < self.global_size == self.feature_size
    )
    self.grid_size: int = self.info.get("grid_size", 0)
    self.grid_cells: int = self.info.get("grid_cells", 0)
    self.frames: int = self.info.get("frames", 1)
    self.max_regions: int = self.info["max_regions"]
    self.has_boxes: bool = self.info["has_boxes"]
    self.has_features: bool = self.info["has_features"]
    self.has_labels: bool = self.info["has_labels"]
    self.has_scores: bool = self.info.get("has_scores", False)
    self.has_position_blocks: bool = self.info.get("has_position_blocks", False)
    self.object_classes: tuple[str, ...] = tuple(self.info["object_classes"])

  @property
  def splits(self) -> tuple[str, ...]:
    return tuple(self.info["splits"])

  @property
  def batch_global_size(self) -> int:
    """G of batches: the global feature, and in a video the position of the segment."""
    return (self.global_size or self.feature_size) + (records.POSITION if self.frames > 1 else 0)

  def split(self, name: str) -> "Split":
    self._check_split(name)
    return Split(self, name)

  def _check_split(self, name: str) -> None:
    if name not in self.splits:
      raise errors.UserError(
        f'{self.folder} has no split "{name}"; it has {", ".join(self.splits)}'
      )

  def build_vocabulary(
    self, layout: vocabularies.Layout, min_count: int, counted: VocabularySplits = "train"
  ) -> vocabularies.Vocabulary:
    """Words seen `min_count` times in the counted splits; region labels, most frequent first."""
    counts = collections.Counter(self.info["word_counts"])
    if not counts:
      raise errors.UserError(
        f"{self.folder} has no {prepared_writer.VOCABULARY_SPLIT} split to build a vocabulary "
        f"from; it has {', '.join(self.splits)}"
      )
    for name in self._counted_besides_train(counted):
      counts.update(self.split(name).tokens())
    labels: dict[str, int] = self.info["region_labels"]
    return vocabularies.Vocabulary.build(
      ([word] * count for word, count in counts.items()),
      layout,
      min_count,
      labels=sorted(labels, key=lambda label: (-labels[label], label)),
    )

  def _counted_besides_train(self, counted: VocabularySplits) -> list[str]:
    others = [name for name in self.splits if name != prepared_writer.VOCABULARY_SPLIT]
    return {"train": [], "train_val": [name for name in others if name == "val"], "all": others}[
      counted
    ]

  def references_path(self, split: str) -> pathlib.Path:
    """The grounding evaluator's reference file of a split, which must match its checksum."""
    return self._whole(f"references_{split}.json", split)

  def captions_path(self, split: str) -> pathlib.Path:
    """The captions of a split in COCO's schema; the file must match its checksum."""
    return self._whole(f"captions_{split}.json", split)

  def _whole(self, name: str, split: str) -> pathlib.Path:
    self._check_split(split)
    expected = self.info["files"].get(name, {}).get("sha256")
    if expected and files.sha256(self.folder / name) != expected:
      raise errors.UserError(
        f"{self.folder / name} is damaged: it does not match its checksum; {shards.FIX}"
      )
    return self.folder / name

  def _check_format(self) -> None:
    path = self.folder / "dataset.json"
    if not isinstance(self.info, dict) or self.info.get("format") != prepared_writer.FORMAT:
      raise errors.UserError(
        f"{path} does not describe prepared data of this program; "
        f"make the folder with {commands.command('prepare_data')}"
      )
    if self.info.get("version") != prepared_writer.VERSION:
      raise errors.UserError(
        f"{path} is of format version {self.info.get('version')}, this program reads version "
        f"{prepared_writer.VERSION}; prepare the data again: {self.info.get('command')}"
      )

  def _check_sizes(self) -> None:
    for name, expected in self.info["files"].items():
      path = self.folder / name
      if not path.exists():
        raise errors.UserError(f"{path} is missing; {shards.FIX}")
      if path.stat().st_size != expected["bytes"]:
        raise errors.UserError(
          f"{path} has {path.stat().st_size} bytes, dataset.json says {expected['bytes']}; "
          f"{shards.FIX}"
        )


class Split:
  """The records of one split, in random access; safe to use from many threads.

  Attributes:
    data: the folder's description.
    name: "train", ...
    folder: where the files are.
    image_ids: [n] strings.
    captions: [n] captions of each picture.
    caption_starts: [n] the first of each picture's captions, counted over the split.
    caption_pictures: [captions] the picture of each caption.
    words: [captions] words of each caption.
    regions: [n] regions of each picture.
    record_bytes: [n] size of each stored record.
  """

  def __init__(self, data: PreparedData, name: str):
    self.data = data
    self.name = name
    self.folder = data.folder
    index = self._load_index()
    self.image_ids: np.ndarray = index["image_ids"]
    self.captions: np.ndarray = index["captions"]
    self.words: np.ndarray = index["words"]
    self.regions: np.ndarray = index["regions"]
    self.record_bytes: np.ndarray = index["size"]
    self.caption_starts = np.cumsum(self.captions) - self.captions
    self.caption_pictures = np.repeat(np.arange(len(self.captions)), self.captions)
    self._shard: np.ndarray = index["shard"]
    self._offset: np.ndarray = index["offset"]
    self._first_of_shard = np.searchsorted(self._shard, np.arange(self.shard_count))
    self._files: dict[int, Any] = {}
    self._lock = threading.Lock()

  def __len__(self) -> int:
    return len(self.image_ids)

  @property
  def shard_count(self) -> int:
    return self.data.info["splits"][self.name]["shards"]

  @property
  def has_boxes(self) -> bool:
    return self.data.has_boxes

  @functools.cached_property
  def max_words(self) -> int:
    """Words of the longest caption."""
    return int(self.words.max(initial=0))

  def record(self, position: int) -> records.Record:
    """Decodes the record at `position`; a damaged one is a `UserError` that names it."""
    shard = int(self._shard[position])
    number = int(position - self._first_of_shard[shard])
    offset = int(self._offset[position])
    file = self._open(shard)
    start = time.monotonic()
    data = shards.read_at(file, offset, number)
    if time.monotonic() - start > SLOW_READ_SECONDS:
      print(
        f"shard {file.name}: record {number} took {time.monotonic() - start:.1f} s to read; is its "
        "disk or network slow?",
        file=sys.stderr,
      )
    try:
      record = shards.decode(data)
    except errors.UserError as error:
      raise errors.UserError(
        f"shard {file.name}: record {number} at byte {offset} is {error}; {shards.FIX}"
      ) from None
    if record.image_id != self.image_ids[position]:
      raise errors.UserError(
        f"{self.folder / prepared_writer.index_name(self.name)} does not match the shards: record "
        f"{number} of {file.name} is picture {record.image_id}, the index says "
        f"{self.image_ids[position]}; {shards.FIX}"
      )
    return record

  def tokens(self) -> Iterator[str]:
    """Every word of every caption, in order."""
    for position in range(len(self)):
      for caption in self.record(position).captions:
        yield from caption.tokens

  def close(self) -> None:
    """Closes the shard files; reading opens them again."""
    with self._lock:
      for file in self._files.values():
        file.close()
      self._files.clear()

  def _open(self, shard: int):
    with self._lock:
      if shard not in self._files:
        path = self.folder / prepared_writer.shard_name(self.name, shard, self.shard_count)
        try:
          self._files[shard] = open(path, "rb")  # noqa: SIM115 - kept for later reads
        except FileNotFoundError:
          raise errors.UserError(f"shard {path} is missing; {shards.FIX}") from None
      return self._files[shard]

  def _load_index(self) -> dict[str, np.ndarray]:
    path = self.folder / prepared_writer.index_name(self.name)
    try:
      with np.load(path) as stored:
        index = {name: stored[name] for name in _INDEX_ARRAYS}
    except Exception as error:  # NumPy raises whatever a damaged header makes of its parser.
      raise errors.UserError(f"index {path} cannot be read ({error}); {shards.FIX}") from None
    expected = self.data.info["splits"][self.name]
    for what, found in (
      ("pictures", len(index["image_ids"])),
      ("captions", int(index["captions"].sum())),
      ("captions", len(index["words"])),
      ("words", int(index["words"].sum())),
    ):
      if found != expected[what]:
        raise errors.UserError(
          f"index {path} lists {found} {what}, dataset.json says {expected[what]}; {shards.FIX}"
        )
    return index
