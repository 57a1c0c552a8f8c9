"""Reads SCAN's `precomp` folders (Lee et al., ECCV 2018, arXiv:1803.08024).

Besides the arrays of `precomp_arrays`, a split has

    {split}_caps.txt       one caption per line; n captions per row, in the order of the rows
    {split}_precaps.txt    BFAN: word ids instead, comma separated; needs a vocabulary
    {split}_tags.txt       POS-SCAN: a Penn tag for every white-space word; optional

The split `dev` is named "val" here. Departure: SCAN and its successors read only the first
1,000 pictures of `dev`; here all are read, and `max_images=1000` restores it.
"""

import functools
import pathlib
from collections.abc import Sequence
from typing import Literal

from gcap_tf import box_geometry, errors, files
from gcap_tf.data import records, source_files
from gcap_tf.data.readers import penn_tags, reader
from gcap_tf.data.stores import array_store
from gcap_tf.text import object_words, tokenizer, vocabulary

_CALLED = {"dev": "val"}


class PrecompCaptions:
  """The captions of one split.

  Attributes:
    texts: one per caption.
    tokens: one tuple of words a caption.
    tags: universal parts of speech a caption; empty tuples if there are none.
    per_row: captions of a row of the arrays.
  """

  def __init__(
    self,
    folder: pathlib.Path,
    split: str,
    rows: int,
    style: tokenizer.Style | None = None,
    word_ids: files.PathLike | None = None,
  ):
    """Reads and tokenises.

    Args:
      folder: where the files are.
      split: as in the file names.
      rows: of the split's arrays.
      style: how to split captions; by default at white space if there are tags, otherwise
        as NLTK does, like SCAN. Tags belong to white-space words; other styles ignore them.
      word_ids: vocabulary of `{split}_precaps.txt`; by default the `*vocab*.json` next to it.
    """
    path = folder / f"{split}_caps.txt"
    tags = folder / f"{split}_tags.txt"
    if path.is_file() or not (folder / f"{split}_precaps.txt").is_file():
      self.texts = source_files.read_lines(path, "captions")
      style = style or ("whitespace" if tags.is_file() else "treebank")
      self.tokens = [tuple(tokenizer.tokenize(text, style)) for text in self.texts]
    else:
      path = folder / f"{split}_precaps.txt"
      self.tokens = _read_word_ids(path, word_ids)
      self.texts = [" ".join(tokens) for tokens in self.tokens]
    self.per_row = captions_per_row(path, len(self.texts), split, rows)
    for number, tokens in enumerate(self.tokens, 1):
      if not tokens:
        raise errors.UserError(f"{path}, line {number}: a caption without words; correct it")
    tagged = style == "whitespace" and tags.is_file()
    self.tags = _read_tags(tags, self.tokens) if tagged else [()] * len(self.texts)


class Precomp(reader.Reader):
  """A `precomp` folder: captions with regions, without annotated boxes."""

  def __init__(
    self,
    source: files.PathLike,
    classes: object_words.ObjectClasses | None = None,
    merge: box_geometry.Merge = "union",
    style: tokenizer.Style | None = None,
    word_ids: files.PathLike | None = None,
    regions: Literal["keep", "drop"] = "keep",
  ):
    """Looks at the source.

    Args:
      source: the folder.
      classes: not used, no boxes are annotated.
      merge: likewise.
      style: see `PrecompCaptions`.
      word_ids: see `PrecompCaptions`.
      regions: "drop" leaves the features to another store.
    """
    super().__init__(source, classes, merge)
    self.store = array_store.ArrayStore(source)
    self.style = style
    self.word_ids = word_ids
    self.regions = regions

  @property
  def splits(self) -> tuple[str, ...]:
    return tuple(_CALLED.get(name, name) for name in self.store.arrays)

  def image_ids(self, split: str) -> Sequence[str]:
    return self.store.split_ids(self._file_split(split))

  def record(self, image_id: str, split: str) -> records.Record:
    name = self._file_split(split)
    captions = self._captions_of(name)
    rows = self.store.rows(image_id)
    width, height = self._size(image_id, name)
    return records.Record(
      image_id=image_id,
      split=split,
      width=width,
      height=height,
      captions=tuple(
        records.Caption(
          caption_id=f"{image_id}#{number}",
          text=captions.texts[index],
          tokens=captions.tokens[index],
          tags=captions.tags[index],
        )
        for number, index in enumerate(
          range(rows.start * captions.per_row, rows.stop * captions.per_row)
        )
      ),
      regions=self.store.get(image_id) if self.regions == "keep" else None,
    )

  def _size(self, image_id: str, name: str) -> tuple[int, int]:
    width, height = self.store.size(image_id)
    if not width and self.regions == "keep" and self.store.arrays[name].boxes is not None:
      raise errors.UserError(
        f"{self.store.where(image_id)}: boxes in pixels, but no {name}_ims_size.npy with "
        "the sizes of the pictures; add it ([pictures, 2] width, height), or scale the boxes to "
        "0..1, or remove them"
      )
    return width, height

  def _file_split(self, split: str) -> str:
    return split if split in self.store.arrays else {"val": "dev"}.get(split, split)

  def _captions_of(self, name: str) -> PrecompCaptions:
    if name not in self._captions:
      arrays = self.store.arrays[name]
      self._captions[name] = PrecompCaptions(
        arrays.folder, name, len(arrays), self.style, self.word_ids
      )
    return self._captions[name]

  @functools.cached_property
  def _captions(self) -> dict[str, PrecompCaptions]:
    """The splits that were read so far."""
    return {}


def captions_per_row(path: pathlib.Path, captions: int, split: str, rows: int) -> int:
  """Captions of each row; a `UserError` if they do not divide equally."""
  if not captions or captions % rows:
    raise errors.UserError(
      f"{path} has {captions:,} lines, but {split}_ims has {rows:,} rows; expected the same "
      f"whole number of captions per row (5 would be {5 * rows:,}): was a file cut short?"
    )
  return captions // rows


def _read_tags(path: pathlib.Path, tokens: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
  lines = source_files.read_lines(path, "tags")
  if len(lines) != len(tokens):
    raise errors.UserError(
      f"{path} has {len(lines):,} lines, but there are {len(tokens):,} captions"
    )
  tags = [tuple(penn_tags.to_universal(tag) for tag in line.split()) for line in lines]
  for number, (found, words) in enumerate(zip(tags, tokens, strict=True), 1):
    if len(found) != len(words):
      raise errors.UserError(
        f"{path}, line {number}: {len(found)} tags for {len(words)} words; expected one for "
        "each white-space word"
      )
  return tags


def _read_word_ids(path: pathlib.Path, word_ids: files.PathLike | None) -> list[tuple[str, ...]]:
  table = vocabulary.Vocabulary.load(
    word_ids or source_files.one_file(path.parent, "*vocab*.json", "vocabulary")
  )
  captions = []
  for number, line in enumerate(source_files.read_lines(path, "captions"), 1):
    try:
      ids = [int(field) for field in line.replace(",", " ").split()]
      captions.append(tuple(table.decode(ids)))
    except (ValueError, IndexError):
      raise errors.UserError(
        f"{path}, line {number}: {line[:40]!r}; expected comma separated word ids below "
        f"{table.size}, of the vocabulary's own data"
      ) from None
  return captions
