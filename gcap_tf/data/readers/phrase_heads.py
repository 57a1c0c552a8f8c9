"""Finds the word of a phrase that names the thing, and the words that describe it.

English noun phrases, as annotators bracket them, nearly always end in their head
noun, so no parser is needed.
"""

import functools
from collections.abc import Sequence

from gcap_tf.text import lemmas, object_words

_NUMBERS = (
  "zero one two three four five six seven eight nine ten eleven twelve dozen several many few"
)
_DETERMINERS = (
  "a an the this that these those some any no each every all both either neither another other "
  "his her its their my your our own such same"
)
_PRONOUNS = (
  "he she it they him them i we you us me himself herself itself themselves someone something "
  "who whom whose which what others"
)
_LINKS = "of in on at with by for from to into onto near over under behind and or as 's"
_COLOURS = (
  "black white red green blue yellow orange brown purple pink gray grey tan beige gold silver"
)
_GLUE = frozenset(f"{_NUMBERS} {_DETERMINERS} {_PRONOUNS} {_LINKS}".split())
_PREPOSITIONS = frozenset(_LINKS.split()) - {"and", "or"}
_NOT_NAMES = _GLUE | frozenset(_COLOURS.split())


def class_word(
  tokens: Sequence[str], classes: object_words.ObjectClasses
) -> tuple[int, str] | None:
  """Position and class of the last token that names an object class, or None."""
  for position in range(len(tokens) - 1, -1, -1):
    name = classes.of(tokens[position])
    if name is not None:
      return position, name
  return None


def is_name(lemma: str) -> bool:
  """Whether a head could be an object class: not "one", "all", "him" or "red"."""
  return lemma not in _NOT_NAMES and any(letter.isalpha() for letter in lemma)


def attributes(tokens: Sequence[str]) -> tuple[str, ...]:
  """Describing words among those that come before a head.

  They are the words after the last preposition that are neither determiner, number,
  pronoun nor conjunction: ("a", "group", "of", "two", "young") gives ("young",).
  """
  start = max((i + 1 for i, token in enumerate(tokens) if token in _PREPOSITIONS), default=0)
  return tuple(token for token in tokens[start:] if token not in _GLUE and not token.isnumeric())


@functools.lru_cache(maxsize=1 << 16)
def noun_lemma(word: str) -> str:
  return lemmas.lemma(word, "NOUN")
