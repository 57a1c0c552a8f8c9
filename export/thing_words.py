"""Which words of a vocabulary name a thing: the words that an answer marks as grounded."""

import collections
from collections.abc import Iterable

from gcap_tf.text import object_words, tagging
from gcap_tf.text import vocabulary as vocabularies

_SLOT = "_"
_FRAMES = (
  "a man _ in the street",
  "a _ dog is running",
  "the _ man is here",
  "there is a _ next to the house",
  "a man with a _",
  "a man is _",
  "people _ near a wall",
  "two _ women are here",
)


def is_thing(vocabulary: vocabularies.Vocabulary, names: Iterable[str] | None = None) -> list[bool]:
  """Whether each word names a thing.

  Args:
    vocabulary: the run's words; its specials never name a thing.
    names: object classes, one lemma each. None takes the labels of the run's regions,
      or, where regions have no labels, every word that the tagger reads as a noun.
  """
  names = list(names) if names is not None else list(vocabulary.labels)
  if not names:
    return is_noun(vocabulary)
  classes = object_words.ObjectClasses(names)
  return [_is_word(word) and classes.of(word) is not None for word in vocabulary.words]


def is_noun(vocabulary: vocabularies.Vocabulary) -> list[bool]:
  """Whether the tagger reads each word as a noun in half or more of eight short captions.

  A vocabulary has no sentences, and alone nearly every word could be a noun: "green"
  is one on a golf course. Some of the captions offer the place of a verb or an
  adjective; what is a noun even there, or everywhere else, is one.
  """
  words = [word for word in vocabulary.words if _is_word(word)]
  tagger = tagging.load_tagger()
  votes = collections.Counter()
  for frame in _FRAMES:
    slot = frame.split().index(_SLOT)
    tagged = tagger.tag([frame.replace(_SLOT, word).split() for word in words])
    votes.update(
      word for word, tags in zip(words, tagged, strict=True) if tags[slot] in tagging.NOUN_TAGS
    )
  return [votes[word] >= len(_FRAMES) / 2 for word in vocabulary.words]


def _is_word(word: str) -> bool:
  specials = (
    *vocabularies.MATCHER_SPECIALS,
    vocabularies.CAPTIONER_END,
    vocabularies.CAPTIONER_UNKNOWN,
  )
  return word not in specials
