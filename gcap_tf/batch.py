"""The batch: names, types, shapes and padding of everything that a model reads.

`ENTRIES` is the only list of them. Letters are those of shapes.py; besides,
C = cells of a picture's grid (or frames of a video) and M = features of a cell.

A batch is built from rows. A row is a dictionary of one picture's or one caption's arrays,
named as in `ENTRIES`, without the first axis and without padding:

    rows = [batch.region_row(3, boxes=boxes, features=features), ...]
    arrays = batch.build(rows, batch.names(["regions"]), {"R": 36, "D": 2048, "G": 2048})
    tensors = batch.tensors(arrays)

Words sit in a caption's T slots as the vocabulary's layout asks:

    matcher    <start> w1 .. wn <end> <pad> ..    T = words + 2
    captioner  w1 .. wn 0 0 ..                    T = words + 1, id 0 ends a caption

Everything but `spec`, `tensors` and `complete` works without TensorFlow.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gcap_tf import box_geometry

if TYPE_CHECKING:
  import tensorflow as tf

Part = Literal["regions", "captions"]
Row = Mapping[str, Any]
Arrays = dict[str, np.ndarray]
_BLOCKS = box_geometry.PFAN_BLOCKS


@dataclasses.dataclass(frozen=True)
class Entry:
  """One array of a batch.

  Attributes:
    dtype: "float32", "int32", "bool" or "string".
    shape: an axis each: a letter whose size the caller knows, or a fixed size.
    parts: the parts that a batch must have for the entry to be in it; none: always.
    optional: in a batch only if the caller names it.
    fill: value of padding; a tuple gives the last axis.
  """

  dtype: str
  shape: tuple[str | int, ...]
  parts: frozenset[Part]
  optional: bool = False
  fill: float | bytes | tuple[float, ...] = 0


def _entry(dtype: str, shape: str, *parts: Part, **options) -> Entry:
  axes = tuple(int(axis) if axis.isdigit() else axis for axis in shape.split())
  if dtype == "string":
    options["fill"] = b""
  return Entry(dtype, axes, frozenset(parts), **options)


ENTRIES: dict[str, Entry] = {
  # example_mask is False on rows that only fill up a batch.
  "image_id": _entry("string", "I"),
  "example_mask": _entry("bool", "I"),
  # Boxes are x1, y1, x2, y2 from 0 to 1; image_size is width, height in pixels.
  "features": _entry("float32", "I R D", "regions"),
  "boxes": _entry("float32", "I R 4", "regions"),
  "region_mask": _entry("bool", "I R", "regions"),
  "region_labels": _entry("int32", "I R", "regions"),
  "frame": _entry("int32", "I R", "regions"),
  "global_feature": _entry("float32", "I G", "regions"),
  "image_size": _entry("float32", "I 2", "regions", fill=1),
  "region_scores": _entry("float32", "I R", "regions", optional=True),
  "grid_features": _entry("float32", "I C M", "regions", optional=True),
  "grid_mask": _entry("bool", "I C", "regions", optional=True),
  # The first frame of the grid that belongs to the segment, and one past the last.
  "segment": _entry("int32", "I 2", "regions", optional=True),
  "position_blocks": _entry(
    "float32",
    f"I R {2 * _BLOCKS}",
    "regions",
    optional=True,
    fill=(box_geometry.PFAN_PAD,) * _BLOCKS + (0,) * _BLOCKS,
  ),
  "tokens": _entry("int32", "B T", "captions"),
  "token_mask": _entry("bool", "B T", "captions"),
  "noun_mask": _entry("bool", "B T", "captions"),
  "caption_id": _entry("string", "B", "captions"),
  "verb_mask": _entry("bool", "B T", "captions", optional=True),
  # target_regions is the IoU of an annotated word's box with each region; -1 for regions of frames
  # in which the word has no box.
  "target_regions": _entry("float32", "B T R", "regions", "captions"),
  # teacher_words are the words whose attention is taken from the teacher.
  "teacher_attention": _entry("float32", "B T R", "captions", optional=True),
  "teacher_words": _entry("bool", "B T", "captions", optional=True),
}


def names(parts: Collection[Part], optional: Collection[str] = ()) -> list[str]:
  """Entries of a batch with these parts, and with the optional ones that are named."""
  if not parts or set(parts) - {"regions", "captions"}:
    raise ValueError(f"parts are {list(parts)}; choose from regions, captions")
  unknown = [name for name in optional if name not in ENTRIES or not ENTRIES[name].optional]
  if unknown:
    raise ValueError(f"{', '.join(unknown)}: not an optional entry of a batch")
  return [
    name
    for name, entry in ENTRIES.items()
    if entry.parts <= set(parts) and (not entry.optional or name in optional)
  ]


def region_row(count: int, **arrays: Any) -> dict[str, Any]:
  """The row of a picture with `count` regions.

  Adds `region_mask`, and as `global_feature` the mean of `features` if there is none.
  """
  row = {"region_mask": np.ones(count, bool), "example_mask": True, **arrays}
  if "global_feature" not in row and "features" in row and count:
    row["global_feature"] = row["features"].mean(axis=0)
  return row


def build(rows: Sequence[Row], wanted: Collection[str], sizes: Mapping[str, int]) -> Arrays:
  """Pads rows to the arrays of a batch; an entry that a row lacks is padding.

  Args:
    rows: all pictures, or all captions; they may have more entries than are wanted.
    wanted: entries of the batch.
    sizes: of every letter but the first axis, which is the number of rows.
  """
  return {name: _padded(name, rows, sizes, 0) for name in wanted}


def build_captions(
  rows: Sequence[Row],
  wanted: Collection[str],
  sizes: Mapping[str, int],
  start: int | None = None,
  end: int = 0,
) -> Arrays:
  """Pads captions, with the ids that begin and end them.

  Args:
    rows: arrays by word, such as `tokens` (word ids) and `noun_mask`; and `caption_id`.
    wanted: entries of the batch.
    sizes: as in `build`; T has room for the words, `start` and `end`.
    start: id before the words in the matchers' layout; None in the captioners'.
    end: id after the words; `token_mask` covers it.
  """
  first = 0 if start is None else 1
  arrays = {name: _padded(name, rows, sizes, first) for name in wanted if name != "token_mask"}
  ends = np.array([first + len(row["tokens"]) for row in rows])
  tokens = arrays["tokens"]
  tokens[:, :first] = start or 0
  tokens[np.arange(len(rows)), ends] = end
  return arrays | {"token_mask": np.arange(tokens.shape[1]) <= ends[:, None]}


def _padded(name: str, rows: Sequence[Row], sizes: Mapping[str, int], first: int) -> np.ndarray:
  """One entry of all rows; words begin at slot `first`."""
  entry = ENTRIES[name]
  array = _padding(entry, [len(rows), *(_size(axis, sizes) for axis in entry.shape[1:])])
  if array.ndim == 1:
    array[:] = [row.get(name, entry.fill) for row in rows]
    return array
  first = first if entry.shape[1] == "T" else 0
  for own, row in zip(array, rows, strict=True):
    value = row.get(name)
    if value is not None:
      place = own[first : first + len(value)]
      if place.ndim > 1 and place.shape != value.shape:
        place = place[:, : value.shape[1]]
      place[...] = value
  return array


def spec(name: str, sizes: Mapping[str, int | None]) -> "tf.TensorSpec":
  """Shape and type of an entry; the axis of a letter that `sizes` lacks is None."""
  import tensorflow as tf

  entry = ENTRIES[name]
  shape = [sizes.get(axis) if isinstance(axis, str) else axis for axis in entry.shape]
  return tf.TensorSpec(shape, tf.as_dtype(entry.dtype), name)


def tensors(arrays: Mapping[str, Any]) -> dict[str, "tf.Tensor"]:
  """A batch of arrays as a batch of tensors."""
  import tensorflow as tf

  return {
    name: tf.constant(value, tf.as_dtype(ENTRIES[name].dtype)) for name, value in arrays.items()
  }


def complete(
  given: Mapping[str, "tf.Tensor"], wanted: Collection[str], sizes: Mapping[str, Any]
) -> dict[str, "tf.Tensor"]:
  """A batch inside a graph: tensors that are given, and padding for the entries that are not.

  `sizes` are numbers or scalar tensors, of every letter of the missing entries.
  """
  import tensorflow as tf

  batch = dict(given)
  for name in wanted:
    if name not in batch:
      entry = ENTRIES[name]
      shape = [_size(axis, sizes) for axis in entry.shape]
      fill = tf.constant(_padding(entry, np.shape(entry.fill)), tf.as_dtype(entry.dtype))
      batch[name] = tf.broadcast_to(fill, shape)
  return batch


def _padding(entry: Entry, shape: Sequence[int]) -> np.ndarray:
  dtype = object if entry.dtype == "string" else entry.dtype
  # np.zeros takes no time until it is written; np.full writes everything.
  return np.zeros(shape, dtype) if entry.fill == 0 else np.full(shape, entry.fill, dtype)


def _size(axis: str | int, sizes: Mapping[str, Any]) -> Any:
  return sizes[axis] if isinstance(axis, str) else axis
