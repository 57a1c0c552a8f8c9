"""The lemmas by which the grounding evaluator compares words, and their source.

The official evaluators ask a CoreNLP server for the lemma of every single word. Here a
table replaces it: a file that the user gives, else the one inside the references, and
this project's own lemmas for words that the table lacks: for pictures those of `lemmas`, for videos
those of `word_lemmas`, which tags each word first.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from gcap_tf import errors, files
from gcap_tf.text import lemmas, word_lemmas

OWN = "gcap_tf lemmas"
BY_TAG = "gcap_tf lemmas by part of speech"


@dataclasses.dataclass(frozen=True)
class LemmaSource:
  """A lookup and its description for reports.

  Attributes:
    lemma: word -> lemma.
    source: of the lemmas, in one phrase.
  """

  lemma: Callable[[str], str]
  source: str


def choose(
  path: files.PathLike | None, references: Mapping[str, Any], by_tag: bool = False
) -> LemmaSource:
  """Takes the table at `path`, else the references' own, else this project's lemmas.

  Args:
    path: JSON file of word -> lemma, or a dictionary file that has it under `wtol`.
    references: the JSON value of the references; may hold `wtol` (word -> lemma) or
      `lemma2w` (lemma -> word or words).
    by_tag: this project's lemmas are those of a word's own part of speech.
  """
  own = BY_TAG if by_tag else OWN
  other = word_lemmas.lemma if by_tag else lemmas.lemma
  if path is not None:
    value = files.read_json(path, "lemma table")
    words = value.get("wtol", value) if isinstance(value, dict) else value
    if not _is_table(words):
      raise errors.UserError(f"lemma table {path}: expected an object of word: lemma")
    return LemmaSource(_lookup(words, other), f"{path}, {own} for other words")
  if _is_table(references.get("wtol")):
    return LemmaSource(
      _lookup(references["wtol"], other), f"references' wtol, {own} for other words"
    )
  if isinstance(references.get("lemma2w"), dict):
    inverted = _invert(references["lemma2w"])
    return LemmaSource(_lookup(inverted, other), f"references' lemma2w, {own} for other words")
  return LemmaSource(_lookup({}, other), own)


def _lookup(words: Mapping[str, str], other: Callable[[str], str]) -> Callable[[str], str]:
  @functools.cache
  def lemma(word: str) -> str:
    return words[word] if word in words else other(word)

  return lemma


def _invert(forms: Mapping[str, Any]) -> dict[str, str]:
  return {
    word: lemma
    for lemma, words in forms.items()
    for word in ([words] if isinstance(words, str) else words)
    if isinstance(word, str)
  }


def _is_table(value: Any) -> bool:
  return isinstance(value, dict) and all(isinstance(lemma, str) for lemma in value.values())
