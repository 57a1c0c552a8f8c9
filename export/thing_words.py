"""Which words of a vocabulary name a thing: the words that an answer marks as grounded."""

from collections.abc import Iterable

from gcap_tf.text import object_words, tagging
from gcap_tf.text import vocabulary as vocabularies

_NOUNS = tagging.NOUN_TAGS
_FRAMES = (
  (("a", "man"), ("in", "the", "street")),
  (("a",), ("dog", "is", "running")),
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
  """Whether each word is a noun in both of two short captions.

  A vocabulary has no sentences, and alone nearly every word could be a noun: "green"
  is one on a golf course. The first caption gives verbs their due, the second
  adjectives; a word that stays a noun in both is one.
  """
  words = [word for word in vocabulary.words if _is_word(word)]
  tagger = tagging.load_tagger()
  nouns = set(words)
  for before, after in _FRAMES:
    tagged = tagger.tag([[*before, word, *after] for word in words])
    nouns -= {w for w, tags in zip(words, tagged, strict=True) if tags[len(before)] not in _NOUNS}
  return [word in nouns for word in vocabulary.words]


def _is_word(word: str) -> bool:
  specials = (
    *vocabularies.MATCHER_SPECIALS,
    vocabularies.CAPTIONER_END,
    vocabularies.CAPTIONER_UNKNOWN,
  )
  return word not in specials
