"""The dictionary form of a word, by a table and rules, without a server or context.

The grounding metrics of Flickr30k Entities and ActivityNet Entities compare words by
the lemma that Stanford CoreNLP gives to a single word. This module does the same by

    1. the lists of `irregular_forms`, as CoreNLP has them ("people" stays, "sunglasses" is
       "sunglass", "clothes" stays),
    2. the forms of UD English EWT that rules would miss (english_tagger/lemmas.tsv),
    3. rules for regular plurals and regular verbs.
"""

# bazel: data = [":english_tagger"]

import functools
import pathlib

from gcap_tf import errors
from gcap_tf.text import irregular_forms

TABLE = pathlib.Path(__file__).with_name("english_tagger") / "lemmas.tsv"

_NOUNS = ("NOUN", "PROPN")
_VOWELS = frozenset("aeiou")


@functools.cache
def _table() -> dict[tuple[str, str], str]:
  """(form, tag) -> lemma, from the file."""
  rows = {}
  try:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
  except FileNotFoundError:
    raise errors.UserError(f"lemma table {TABLE} is missing; reinstall the package") from None
  for line in lines:
    form, tag, lemma_of_form = line.split("\t")
    rows[form, tag] = lemma_of_form
  return rows


@functools.lru_cache(maxsize=200_000)
def lemma(word: str, tag: str = "NOUN") -> str:
  """The lemma of a word, in lower case.

  Args:
    word: a form, in any case.
    tag: its universal part of speech; "NOUN" suits a class name or an object word.
  """
  word = word.lower()
  if tag in _NOUNS and (found := _irregular_noun(word)):
    return found
  return _table().get((word, tag)) or by_rule(word, tag)


def is_listed(word: str, tag: str) -> bool:
  """Whether the treebank has the lower-case word with this tag, and not as its own lemma."""
  return _table().get((word, tag), word) != word


def by_rule(word: str, tag: str) -> str:
  """The lemma of a lower-case word by lists and rules, without the table."""
  if tag in _NOUNS:
    return _irregular_noun(word) or _singular(word)
  if tag in ("VERB", "AUX"):
    return _infinitive(word)
  return irregular_forms.PRONOUNS.get(word, word) if tag == "PRON" else word


def _irregular_noun(word: str) -> str | None:
  if word in irregular_forms.UNCHANGED_NOUNS:
    return word
  if word in irregular_forms.PRONOUNS:
    return irregular_forms.PRONOUNS[word]
  if word in irregular_forms.NOUNS:
    return irregular_forms.NOUNS[word]
  if word not in irregular_forms.NOT_PLURAL_IN_MEN:
    for ending, singular in irregular_forms.NOUN_ENDINGS:
      if word.endswith(ending):
        return word.removesuffix(ending) + singular
  head, hyphen, last = word.rpartition("-")
  return head + hyphen + by_rule(last, "NOUN") if hyphen and head and last else None


def _singular(word: str) -> str:
  """Undoes a regular plural."""
  if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
    return word
  if word.endswith("is") and word not in irregular_forms.PLURALS_IN_IS:
    return word
  if word.endswith("us") and word not in irregular_forms.PLURALS_IN_US:
    return word
  if word in irregular_forms.LOSE_ONLY_S or word in irregular_forms.PLURALS_IN_USES:
    return word[:-1]
  if word.endswith("ies") and len(word) > 4:
    return word[:-3] + "y"
  if word.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")):
    return word[:-2]
  if word.removesuffix("es") in irregular_forms.UNCHANGED_NOUNS:
    return word[:-2]
  if word.endswith("uses") and word[-5] not in _VOWELS:
    return word[:-2]
  return word[:-1]


def _infinitive(word: str) -> str:
  """Undoes a regular verb form; doubled consonants become single, a lost e comes back."""
  if word in irregular_forms.VERBS:
    return irregular_forms.VERBS[word]
  if word.endswith(("ies", "ied")):
    return word[:-1] if len(word) == 4 else word[:-3] + "y"
  if word.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")):
    return word[:-2]
  if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
    return word[:-1]
  if word.endswith("eed"):
    return word[:-1] if word.startswith(("agr", "disagr", "free", "guarant", "refer")) else word
  for ending in ("ing", "ed"):
    stem = word.removesuffix(ending)
    if stem != word and len(stem) > 1 and set(stem) & set("aeiouy"):
      return _restore(stem)
  return word


def _restore(stem: str) -> str:
  """The infinitive of a stem that lost -ing or -ed: runn -> run, rid -> ride, walk -> walk."""
  if len(stem) == 2 and stem.endswith("y"):
    return stem[0] + "ie"
  before, vowel, last = stem[-3:-2], stem[-2], stem[-1]
  if last == vowel:
    return stem if last in "aeioulsfz" or len(stem) == 3 else stem[:-1]
  if last in "cuvz" or stem.endswith(irregular_forms.STEMS_THAT_LOST_E):
    return stem if stem in ("bang", "clang", "hang", "overhang") else stem + "e"
  if last in "aeiouwxy" or vowel not in _VOWELS or before in (*_VOWELS, ""):
    return stem + "e" if stem == "us" else stem
  one_syllable = not set(stem[:-2]) & set("aeiouy")
  return (
    stem + "e"
    if one_syllable or stem.endswith(irregular_forms.STEMS_IN_VOWEL_THAT_LOST_E)
    else stem
  )
