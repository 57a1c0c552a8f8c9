"""Finds the words of a vocabulary that name a thing; answers mark them as grounded."""

import functools
from collections.abc import Collection, Iterable

from gcap_tf.text import object_words, tagging
from gcap_tf.text import vocabulary as vocabularies

_SLOT = "_"
_NOUN_FRAMES = ("there is a _ next to the house", "a man with a _")
_ADJECTIVE_FRAMES = ("a _ dog is running", "the _ man is here")
_OTHER_FRAMES = (
  "a man _ in the street",
  "a man is _",
  "people _ near a wall",
  "two _ women are here",
)
_MODIFIER_TAGS = frozenset(("ADJ", "NUM"))
_FRAMES = (*_NOUN_FRAMES, *_ADJECTIVE_FRAMES, *_OTHER_FRAMES)


def is_thing(vocabulary: vocabularies.Vocabulary, names: Iterable[str] | None = None) -> list[bool]:
  """Whether each word names a thing.

  Args:
    vocabulary: the words of the run; its special tokens never name a thing.
    names: object classes, one lemma each. None takes the region labels that may be nouns
      (labels cut from phrases also contain "two", "red" and "standing"). If regions have
      no labels, None takes every word that the tagger reads as a noun.
  """
  if names is not None:
    return _is_one_of(vocabulary, names)
  if not vocabulary.labels:
    return is_noun(vocabulary)
  named = _is_one_of(vocabulary, vocabulary.labels)
  return [a and b for a, b in zip(named, may_be_noun(vocabulary), strict=True)]


def is_noun(
  vocabulary: vocabularies.Vocabulary, kinds: Collection[str] = tagging.NOUN_TAGS
) -> list[bool]:
  """Whether the tagger reads each word as a noun in half or more of eight short captions.

  `kinds` are other parts of speech instead of nouns.

  A vocabulary has no sentences, and nearly every word alone could be a noun: "green" is
  one on a golf course. So some of the captions put the word in the place of a verb or an
  adjective.
  """
  return [_is_mostly(kinds, tags) for tags in _tags(vocabulary)]


def may_be_noun(vocabulary: vocabularies.Vocabulary) -> list[bool]:
  """Whether each word is a noun, or could be one.

  A word could be a noun if the tagger reads it as a noun in the place of a noun, and as
  a noun or an adjective in the place of an adjective. This accepts rare words that the
  tagger reads by their place ("clown"), and rejects verbs, which stay verbs before a noun.
  """
  return [_is_mostly(tagging.NOUN_TAGS, tags) or _may_be_noun(tags) for tags in _tags(vocabulary)]


def is_modifier(vocabulary: vocabularies.Vocabulary) -> list[bool]:
  """Whether the tagger reads each word as an adjective or a number in the place of an adjective."""
  return [
    bool(tags) and all(tags[frame] in _MODIFIER_TAGS for frame in _ADJECTIVE_FRAMES)
    for tags in _tags(vocabulary)
  ]


def _is_mostly(kinds: Collection[str], tags: dict[str, str]) -> bool:
  return sum(tag in kinds for tag in tags.values()) >= len(_FRAMES) / 2


def _may_be_noun(tags: dict[str, str]) -> bool:
  return bool(tags) and (
    all(tags[frame] in tagging.NOUN_TAGS for frame in _NOUN_FRAMES)
    and all(tags[frame] in tagging.NOUN_TAGS | {"ADJ"} for frame in _ADJECTIVE_FRAMES)
  )


@functools.lru_cache(maxsize=2)
def _tags(vocabulary: vocabularies.Vocabulary) -> list[dict[str, str]]:
  """Returns caption -> tag for every word; an empty dict for special tokens."""
  words = [word for word in vocabulary.words if is_word(word)]
  tagger = tagging.load_tagger()
  found = {word: {} for word in words}
  for frame in _FRAMES:
    slot = frame.split().index(_SLOT)
    tagged = tagger.tag([frame.replace(_SLOT, word).split() for word in words])
    for word, tags in zip(words, tagged, strict=True):
      found[word][frame] = tags[slot]
  return [found.get(word, {}) for word in vocabulary.words]


def _is_one_of(vocabulary: vocabularies.Vocabulary, names: Iterable[str]) -> list[bool]:
  classes = object_words.ObjectClasses(list(names))
  return [is_word(word) and classes.of(word) is not None for word in vocabulary.words]


def is_word(word: str) -> bool:
  """Whether an entry of a vocabulary is a word, not a special token."""
  specials = (
    *vocabularies.MATCHER_SPECIALS,
    vocabularies.CAPTIONER_END,
    vocabularies.CAPTIONER_UNKNOWN,
  )
  return word not in specials
