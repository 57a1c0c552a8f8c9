"""Words and their ids, in the two usual layouts.

    matcher    <pad> 0, <start> 1, <end> 2, <unk> 3, words from 4     (SCAN)
    captioner  0 is start, end and padding at once, words from 1, UNK last  (Up-Down)

Up-Down's preparation adds UNK only if it dropped a word, but its beam search always penalises
the last word. So if there is no UNK, the last word is treated as UNK here as well.

A vocabulary belongs to a run, not to a dataset: shards hold words, so any run can
read any prepared data.
"""

import collections
import dataclasses
import functools
import hashlib
import json
import typing
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from gcap_tf import errors, files

Layout = Literal["matcher", "captioner"]
MATCHER_SPECIALS = ("<pad>", "<start>", "<end>", "<unk>")
CAPTIONER_END = ""
CAPTIONER_UNKNOWN = "UNK"


@dataclasses.dataclass(frozen=True)
class Vocabulary:
  """An immutable table of words.

  Attributes:
    layout: where the special ids are.
    words: id -> word, specials included.
    labels: region label id - 1 -> label; label id 0 is "unknown".
  """

  layout: Layout
  words: tuple[str, ...]
  labels: tuple[str, ...] = ()

  def __post_init__(self):
    if self.layout not in typing.get_args(Layout):
      raise errors.UserError(
        f'vocabulary has the layout "{self.layout}"; known: {", ".join(typing.get_args(Layout))}'
      )
    if self.layout == "matcher" and self.words[:4] != MATCHER_SPECIALS:
      raise errors.UserError(
        f"matcher vocabulary must begin with {' '.join(MATCHER_SPECIALS)}, "
        f"found {' '.join(self.words[:4])}"
      )
    if self.layout == "captioner":
      if self.words[:1] != (CAPTIONER_END,):
        raise errors.UserError("captioner vocabulary must keep id 0 for the end of a sentence")
      if len(self.words) < 2 or CAPTIONER_UNKNOWN in self.words[:-1]:
        raise errors.UserError(
          f"captioner vocabulary must have words, and {CAPTIONER_UNKNOWN} as its last or not at all"
        )
    if len(set(self.words)) != len(self.words):
      word = next(w for w, n in collections.Counter(self.words).items() if n > 1)
      raise errors.UserError(f'vocabulary lists "{word}" twice')

  @classmethod
  def build(
    cls,
    captions: Iterable[Sequence[str]],
    layout: Layout,
    min_count: int,
    labels: Iterable[str] = (),
  ) -> "Vocabulary":
    """Keeps words seen at least `min_count` times, in order of first appearance.

    SCAN keeps words with count >= 4; Up-Down those with count > 5, so `min_count` 6.
    """
    counts = collections.Counter(word for tokens in captions for word in tokens)
    kept = [
      word
      for word, count in counts.items()
      if count >= min_count and word not in (*MATCHER_SPECIALS, CAPTIONER_END, CAPTIONER_UNKNOWN)
    ]
    if not kept:
      raise errors.UserError(f"no word occurs {min_count} times or more: vocabulary would be empty")
    if layout == "matcher":
      words = (*MATCHER_SPECIALS, *kept)
    else:
      words = (CAPTIONER_END, *kept, CAPTIONER_UNKNOWN)
    return cls(layout, words, tuple(labels))

  @property
  def size(self) -> int:
    return len(self.words)

  @property
  def unknown_id(self) -> int:
    return 3 if self.layout == "matcher" else len(self.words) - 1

  @functools.cached_property
  def ids(self) -> dict[str, int]:
    return {word: index for index, word in enumerate(self.words)}

  @functools.cached_property
  def label_ids(self) -> dict[str, int]:
    return {label: index + 1 for index, label in enumerate(self.labels)}

  @functools.cached_property
  def fingerprint(self) -> str:
    """Short hash of layout and words: two runs that agree on it can share ids."""
    return hashlib.sha256(json.dumps([self.layout, self.words]).encode()).hexdigest()[:16]

  def encode(self, tokens: Sequence[str]) -> list[int]:
    """Ids of words; the matcher layout wraps them in <start> and <end>."""
    ids = [self.ids.get(token, self.unknown_id) for token in tokens]
    return [1, *ids, 2] if self.layout == "matcher" else ids

  def decode(self, ids: Iterable[int]) -> list[str]:
    """Words of ids, up to the end of the sentence."""
    end, skipped = (2, (0, 1)) if self.layout == "matcher" else (0, ())
    words = []
    for index in map(int, ids):
      if index == end:
        break
      if index not in skipped:
        words.append(self.words[index])
    return words

  def to_json(self) -> dict[str, Any]:
    return {"layout": self.layout, "words": self.words, "labels": self.labels}

  def save(self, path: files.PathLike) -> None:
    files.write_json(path, self.to_json(), None)

  @classmethod
  def load(cls, path: files.PathLike) -> "Vocabulary":
    """Reads our own file, a SCAN `word2idx` file or an Up-Down `ix_to_word` file.

    An Up-Down checkpoint holds its `ix_to_word` at the top level, id -> word; that is read, too.
    """
    return cls.from_json(files.read_json(path, "vocabulary"), str(path))

  @classmethod
  def from_json(cls, value: dict[str, Any], where: str) -> "Vocabulary":
    """The vocabulary in the JSON of a file; errors name the file as `where`."""
    try:
      return cls(*_layout_words_labels(value))
    except errors.UserError as error:
      raise errors.UserError(f"{where}: {error}") from None


def _layout_words_labels(value: Any) -> tuple[Layout, tuple[str, ...], tuple[str, ...]]:
  """The content of any of the three kinds of file."""
  keys = value.keys() if isinstance(value, dict) else ()
  if {"layout", "words"} <= set(keys):
    return value["layout"], _strings(value, "words"), _strings(value, "labels")
  if "word2idx" in keys:
    return "matcher", _dense(_table(value, "word2idx"), first=0), ()
  if keys and all(key.isdecimal() for key in keys):
    value, keys = {"ix_to_word": value}, ("ix_to_word",)
  if "ix_to_word" in keys:
    table = _table(value, "ix_to_word")
    if not all(isinstance(word, str) for word in table.values()):
      raise errors.UserError('"ix_to_word" must map ids to words')
    by_id = {word: index for index, word in table.items()}
    if len(by_id) < len(value["ix_to_word"]):
      counts = collections.Counter(value["ix_to_word"].values())
      raise errors.UserError(f'vocabulary lists "{counts.most_common(1)[0][0]}" twice')
    return "captioner", (CAPTIONER_END, *_dense(by_id, first=1)), ()
  raise errors.UserError('no vocabulary there; expected keys "words", "word2idx" or "ix_to_word"')


def _strings(value: dict[str, Any], key: str) -> tuple[str, ...]:
  found = value.get(key, [])
  if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
    raise errors.UserError(f'"{key}" must be a list of strings')
  return tuple(found)


def _table(value: dict[str, Any], key: str) -> dict[str, Any]:
  if not isinstance(value[key], dict):
    raise errors.UserError(f'"{key}" must be an object that maps words and ids')
  return value[key]


def _dense(ids: dict[str, Any], first: int) -> tuple[str, ...]:
  """The words in the order of their ids, which must be `first`, `first` + 1, ..."""
  for index in ids.values():
    if not str(index).isdecimal() or len(str(index)) > 9:
      raise errors.UserError(f'id "{index}" is not a number')
  ordered = sorted((int(index), word) for word, index in ids.items())
  for position, (index, word) in enumerate(ordered, first):
    if index != position:
      raise errors.UserError(f'ids are not {first}, {first + 1}, ...; "{word}" has {index}')
  return tuple(word for _, word in ordered)
