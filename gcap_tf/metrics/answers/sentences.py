"""Whether a caption reads as a sentence: faults that need no reference.

    empty      no word
    repeat     a noun twice, in any form; or a word twice in a row; or a trigram twice
    no_noun    no word names anything
    cut_off    it ends with a determiner, a preposition, a conjunction, "is", "are", or with an
               adjective after a determiner ("in a white")
    name_verb  a noun right after "is" or "are" without an article ("a person is cow"); words in
               -ing are verbs there

A caption without a fault may still be wrong; one with a fault is word salad.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Sequence

from gcap_tf.text import lemmas

FAULTS = ("empty", "repeat", "no_noun", "cut_off", "name_verb")
_DETERMINERS = frozenset(
  ("a", "an", "the", "this", "that", "these", "those", "his", "her", "their", "its", "another")
)
_LINKS = frozenset(
  (
    *("of", "with", "in", "on", "at", "to", "for", "from", "by", "into", "onto", "through", "near"),
    *("behind", "between", "and", "or", "while", "as", "is", "are", "other"),
  )
)
_BE = frozenset(("is", "are"))


def faults(
  words: Sequence[str], nouns: Collection[str], modifiers: Collection[str] = ()
) -> tuple[str, ...]:
  """The faults of a caption, in the order of `FAULTS`.

  Args:
    words: the caption.
    nouns: words that may name something.
    modifiers: adjectives and numbers.
  """
  if not words:
    return ("empty",)
  found = {
    "repeat": repeats(words, nouns),
    "no_noun": not any(word in nouns for word in words),
    "cut_off": _is_cut_off(words, modifiers),
    "name_verb": any(
      before in _BE and word in nouns and not word.endswith("ing")
      for before, word in itertools.pairwise(words)
    ),
  }
  return tuple(name for name in FAULTS if found.get(name))


def repeats(words: Sequence[str], nouns: Collection[str]) -> bool:
  """Whether a caption says a noun again, a word twice in a row, or a trigram twice."""
  named = Counter(lemmas.lemma(word) for word in words if word in nouns)
  trigrams = list(zip(words, words[1:], words[2:], strict=False))
  return (
    any(count > 1 for count in named.values())
    or any(a == b for a, b in itertools.pairwise(words))
    or len(trigrams) > len(set(trigrams))
  )


def shares(
  captions: Sequence[Sequence[str]], nouns: Collection[str], modifiers: Collection[str] = ()
) -> dict[str, float]:
  """Share of the captions with each fault, `fault_NAME`, and with any, `faulty`."""
  nouns, modifiers = frozenset(nouns), frozenset(modifiers)
  each = [faults(words, nouns, modifiers) for words in captions]
  count = max(len(each), 1)
  found = {f"fault_{name}": sum(name in row for row in each) / count for name in FAULTS}
  return {"faulty": sum(map(bool, each)) / count, **found}


def _is_cut_off(words: Sequence[str], modifiers: Collection[str]) -> bool:
  last, before = words[-1], words[-2] if len(words) > 1 else ""
  if last in _DETERMINERS or last in _LINKS:
    return True
  return last in modifiers and (before in _DETERMINERS or before in modifiers)
