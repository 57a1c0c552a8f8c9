"""Finds the words of a caption that name a detection category ("traffic light", "skis")."""

import collections
from collections.abc import Iterable, Sequence

from gcap_tf.data.readers import phrase_heads


class CategoryWords:
  """Categories by the words that name them.

  In order: a run of words that spells a category of several words; a word whose lemma is a
  category; a word whose lemma ends exactly one category of several words ("racket"), if no
  category is that word alone. In a run, the last word names the category.
  """

  def __init__(self, categories: Iterable[str]):
    spelled = {tuple(name.lower().split()): name for name in categories}
    self._runs = {_lemmatised(words): name for words, name in spelled.items() if len(words) > 1}
    self._longest = max((len(words) for words in spelled), default=0)
    self._words = {
      form: name
      for words, name in spelled.items()
      if len(words) == 1
      for form in (words[0], phrase_heads.noun_lemma(words[0]))
    }
    endings = collections.Counter(words[-1] for words in self._runs)
    for words, name in self._runs.items():
      if endings[words[-1]] == 1:
        self._words.setdefault(words[-1], name)

  def find(self, tokens: Sequence[str]) -> list[tuple[int, str]]:
    """(position, category) of each word that names one, in order."""
    found = []
    position = 0
    while position < len(tokens):
      length, name = self._run_at(tokens, position)
      if name is not None:
        found.append((position + length - 1, name))
      position += length
    return found

  def _run_at(self, tokens: Sequence[str], position: int) -> tuple[int, str | None]:
    for length in range(min(self._longest, len(tokens) - position), 1, -1):
      name = self._runs.get(_lemmatised(tokens[position : position + length]))
      if name is not None:
        return length, name
    token = tokens[position]
    return 1, self._words.get(token) or self._words.get(phrase_heads.noun_lemma(token))


def _lemmatised(words: Sequence[str]) -> tuple[str, ...]:
  return (*words[:-1], phrase_heads.noun_lemma(words[-1]))
