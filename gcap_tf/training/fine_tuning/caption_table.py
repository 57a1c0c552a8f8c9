"""The captions of a split as word ids, kept in a run folder.

Rewards compare with them, document frequencies count them, contrastive learning draws wrong
captions from them. Reading them means reading every record, so it is done once per run.
"""

import dataclasses
import functools
import hashlib
import json
import zipfile
from collections.abc import Collection

import numpy as np

from gcap_tf import errors, files, progress
from gcap_tf.data.prepared import prepared_data
from gcap_tf.rewards import document_frequency
from gcap_tf.text import vocabulary as vocabularies

_LEAST_KNOWN = 0.5
_ARRAYS = ("image_ids", "captions", "ids", "lengths", "tags")
_FORMAT = "tags"  # Changes if files of earlier versions must be read again.


@dataclasses.dataclass(frozen=True)
class CaptionTable:
  """Captions end to end, picture by picture.

  Attributes:
    image_ids: [I] strings.
    captions: [I] captions of each picture.
    ids: [words] int32, UNK for words that the vocabulary lacks; nothing is cut.
    lengths: [C] words of each caption.
    tags: [words] strings, the universal part of speech of each word.
  """

  image_ids: np.ndarray
  captions: np.ndarray
  ids: np.ndarray
  lengths: np.ndarray
  tags: np.ndarray

  @functools.cached_property
  def positions(self) -> dict[str, int]:
    """Image id -> its position."""
    return {str(image): n for n, image in enumerate(self.image_ids)}

  @functools.cached_property
  def first_caption(self) -> np.ndarray:
    """[I + 1] index of each picture's first caption."""
    return np.concatenate([[0], np.cumsum(self.captions)])

  def rows(self, max_words: int) -> np.ndarray:
    """Captions cut to `max_words`, padded with 0: int32 [C, max_words]."""
    place = np.arange(max_words)
    inside = place < self.lengths[:, None]
    first = np.cumsum(self.lengths) - self.lengths
    index = np.minimum(first[:, None] + place, max(len(self.ids) - 1, 0))
    return np.where(inside, self.ids[index], 0).astype(np.int32)

  def references(self, max_words: int) -> dict[str, np.ndarray]:
    """Image id -> its captions as rows [m, max_words], as the released programs keep them:
    a caption that fills its row has no 0 after it."""
    rows = np.split(self.rows(max_words), self.first_caption[1:-1])
    return dict(zip(map(str, self.image_ids), rows, strict=True))

  def document_frequency(self) -> document_frequency.DocumentFrequency:
    """Over whole captions, each with the 0 that ends it."""
    whole = self.rows(int(self.lengths.max(initial=0)) + 1)
    return document_frequency.DocumentFrequency.from_captions(
      np.split(whole, self.first_caption[1:-1])
    )

  def words_tagged(self, tags: Collection[str], size: int) -> np.ndarray:
    """Which of `size` words have one of these tags most of the times they occur: bool [size]."""
    seen = np.bincount(self.ids, minlength=size)
    tagged = np.isin(self.tags, sorted(tags))
    return 2 * np.bincount(self.ids, tagged, minlength=size) > seen


def mark(split: prepared_data.Split, vocabulary: vocabularies.Vocabulary) -> str:
  """Fingerprint of the captions and their ids: "vocabulary-data"."""
  contents = {name: entry for name, entry in split.data.info["files"].items() if split.name in name}
  digest = hashlib.sha256(json.dumps([split.name, contents], sort_keys=True).encode())
  return f"{vocabulary.fingerprint}-{digest.hexdigest()[:16]}"


def check_known(table: CaptionTable, vocabulary: vocabularies.Vocabulary, where: str) -> None:
  """Raises a `UserError` if most words of the captions are not in the vocabulary."""
  known = float(np.mean(table.ids != vocabulary.unknown_id)) if len(table.ids) else 1.0
  if known < _LEAST_KNOWN:
    raise errors.UserError(
      f"{where} knows {known:.0%} of the words in the training captions; "
      "begin with a captioner that was trained on this dataset"
    )


def read(split: prepared_data.Split, vocabulary: vocabularies.Vocabulary) -> CaptionTable:
  """Reads every record of the split."""
  known, unknown = vocabulary.ids, vocabulary.unknown_id
  ids: list[int] = []
  tags: list[str] = []
  for position in progress.bar(range(len(split)), label="reading captions", unit="picture"):
    for caption in split.record(position).captions:
      ids += [known.get(word, unknown) for word in caption.tokens]
      tags += caption.tags or [""] * len(caption.tokens)
  return CaptionTable(
    np.asarray(split.image_ids),
    np.asarray(split.captions, np.int64),
    np.array(ids, np.int32),
    np.asarray(split.words, np.int64),
    np.array(tags, np.str_),
  )


def open_or_read(
  path: files.PathLike, split: prepared_data.Split, vocabulary: vocabularies.Vocabulary
) -> CaptionTable:
  """The table in the file `path`; read from the split and written there if it is missing."""
  expected = f"{_FORMAT}-{mark(split, vocabulary)}"
  try:
    with np.load(path) as stored:
      if str(stored["mark"]) == expected:
        return CaptionTable(*(stored[name] for name in _ARRAYS))
  except FileNotFoundError:
    pass
  except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
    raise errors.UserError(f"captions {path} are damaged ({error}); remove the file") from None
  table = read(split, vocabulary)
  with files.atomic_path(path) as partial, open(partial, "wb") as file:
    arrays = {name: getattr(table, name) for name in _ARRAYS}
    np.savez_compressed(file, mark=expected, **arrays)
  return table
