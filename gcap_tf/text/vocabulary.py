"""Words and their ids, in the two layouts of the field.

    matcher    <pad> 0, <start> 1, <end> 2, <unk> 3, words from 4     (SCAN and kin)
    captioner  0 is start, end and padding at once, words from 1, UNK last  (Up-Down and kin)

A vocabulary belongs to a run, not to a dataset: shards hold words, so any run can
read any prepared data.
"""

import collections
import dataclasses
import functools
import hashlib
import json
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
    if self.layout == "matcher" and self.words[:4] != MATCHER_SPECIALS:
      raise errors.UserError(
        f"matcher vocabulary must begin with {' '.join(MATCHER_SPECIALS)}, "
        f"found {' '.join(self.words[:4])}"
      )
    if self.layout == "captioner":
      if self.words[:1] != (CAPTIONER_END,):
        raise errors.UserError("captioner vocabulary must keep id 0 for the end of a sentence")
      if self.words[-1] != CAPTIONER_UNKNOWN:
        raise errors.UserError(
          f"captioner vocabulary lacks {CAPTIONER_UNKNOWN} as its last word "
          f'(found "{self.words[-1]}"); add it, or build the vocabulary anew'
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
      if count >= min_count and word not in (*MATCHER_SPECIALS, CAPTIONER_UNKNOWN)
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

  def save(self, path: files.PathLike) -> None:
    files.write_json(
      path, {"layout": self.layout, "words": self.words, "labels": self.labels}, None
    )

  @classmethod
  def load(cls, path: files.PathLike) -> "Vocabulary":
    """Reads our own file, a SCAN `word2idx` file or an Up-Down `ix_to_word` file."""
    return cls.from_json(files.read_json(path, "vocabulary"), str(path))

  @classmethod
  def from_json(cls, value: dict[str, Any], where: str) -> "Vocabulary":
    if {"layout", "words"} <= value.keys():
      return cls(value["layout"], tuple(value["words"]), tuple(value.get("labels", ())))
    if "word2idx" in value:
      words = _dense(((index, word) for word, index in value["word2idx"].items()), where)
      return cls("matcher", words)
    if "ix_to_word" in value:
      words = _dense(((int(i), w) for i, w in value["ix_to_word"].items()), where, first=1)
      return cls("captioner", (CAPTIONER_END, *words))
    raise errors.UserError(
      f'{where}: no vocabulary there; expected keys "words", "word2idx" or "ix_to_word"'
    )


def _dense(pairs: Iterable[tuple[int, str]], where: str, first: int = 0) -> tuple[str, ...]:
  ordered = sorted(pairs)
  for position, (index, word) in enumerate(ordered, first):
    if index != position:
      raise errors.UserError(
        f'{where}: ids are not {first}, {first + 1}, ...; "{word}" has {index}'
      )
  return tuple(word for _, word in ordered)
