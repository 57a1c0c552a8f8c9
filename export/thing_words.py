"""Which words of a vocabulary name a thing: the words that an answer marks as grounded."""

from collections.abc import Iterable

from gcap_tf.text import object_words, tagging
from gcap_tf.text import vocabulary as vocabularies


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
  """Whether the tagger reads each word, on its own, as a noun."""
  words = [word for word in vocabulary.words if _is_word(word)]
  tags = load_tags(words)
  return [tags.get(word) in tagging.NOUN_TAGS for word in vocabulary.words]


def load_tags(words: list[str]) -> dict[str, str]:
  tagged = tagging.load_tagger().tag([[word] for word in words])
  return {word: tag for word, (tag,) in zip(words, tagged, strict=True)}


def _is_word(word: str) -> bool:
  specials = (
    *vocabularies.MATCHER_SPECIALS,
    vocabularies.CAPTIONER_END,
    vocabularies.CAPTIONER_UNKNOWN,
  )
  return word not in specials
