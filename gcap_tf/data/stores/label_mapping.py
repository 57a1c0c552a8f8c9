"""Maps a detector's name of a thing to a label that a captioner was trained on.

In order: the name itself; in lower case, with blanks for "_"; a synonym or a wider word that
`label_synonyms` lists for it; its lemma, and what is listed for that; then the same for its last
word alone, which is the thing in an English compound ("sports ball"). Whole names go first: a
"hot dog" is food.
"""

import collections
import functools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from absl import logging

from gcap_tf.data.stores import label_synonyms
from gcap_tf.text import irregular_forms, lemmas

_BLANKS = re.compile(r"[\s_]+")
_BEFORE_LAST = re.compile(r"^.*[ -]")
_SHOWN = 12  # names in a report


class LabelMapping:
  """Names to the labels of one run."""

  def __init__(self, labels: Collection[str]):
    """Takes the labels of the run."""
    self.labels = frozenset(labels)
    self._by_lemma = {lemmas.lemma(label): label for label in sorted(self.labels, reverse=True)}
    self._found = functools.cache(self._find)

  def of(self, name: str) -> str | None:
    """The label for a name, or None."""
    return self._found(name)

  def ids(self, names: Iterable[str], label_ids: dict[str, int]) -> list[int]:
    """Ids of the labels for names, 0 if there is none."""
    return [label_ids.get(self.of(name) or "", 0) for name in names]

  def known(self, words: Iterable[str] = ()) -> dict[str, str]:
    """Names that have a label -> that label, for served graphs, which cannot run the rules.

    Holds the labels, the names of the synonym table, their plurals, and those of `words`.
    """
    singular = [*self.labels, *label_synonyms.table(), *words]
    names = [*singular, *(form for word in singular for form in plurals(word))]
    found = {name: self.of(name) for name in dict.fromkeys((*names, *irregular_forms.NOUNS))}
    return {name: label for name, label in found.items() if label is not None}

  def _find(self, name: str) -> str | None:
    if name in self.labels:
      return name
    plain = plain_name(name)
    last = last_word(plain)
    return self._one(plain) or (self._one(last) if last != plain else None)

  def _one(self, name: str) -> str | None:
    """As written, then as its lemma: "glasses" must not become "glass"."""
    for form in dict.fromkeys((name, lemmas.lemma(name))):
      for word in (form, *label_synonyms.candidates(form)):
        if label := self._named(word, exactly=word == name):
          return label
    return None

  def _named(self, word: str, exactly: bool) -> str | None:
    if word in self.labels:
      return word
    return None if exactly else self._by_lemma.get(lemmas.lemma(word))


def plain_name(name: str) -> str:
  """Lower case, single blanks."""
  return _BLANKS.sub(" ", name.lower()).strip()


def last_word(name: str) -> str:
  """The last word of a plain name, after any blank or hyphen."""
  return _BEFORE_LAST.sub("", name)


def plurals(word: str) -> Iterator[str]:
  """Regular plural spellings of a word, the right one among them."""
  if not word or word.endswith("s"):
    return
  yield f"{word}s"
  if word.endswith(("ch", "sh", "x", "z", "o")):
    yield f"{word}es"
  if word.endswith("y"):
    yield f"{word[:-1]}ies"
  if word.endswith("man"):
    yield f"{word[:-3]}men"


def report(mapping: LabelMapping, names: Sequence[str]) -> None:
  """Logs in one line which names had no label, and how often, if there are any."""
  unknown = collections.Counter(name for name in names if name and mapping.of(name) is None)
  if unknown:
    shown = ", ".join(f"{name} {count}" for name, count in unknown.most_common(_SHOWN))
    more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
    logging.warning(
      "%d of %d regions have a label that the run does not know, and count as unlabelled: %s%s",
      sum(unknown.values()),
      len(names),
      shown,
      more,
    )
