""" "a" or "an": which words of a vocabulary begin with the sound of a vowel."""

from gcap_tf.text import thing_words
from gcap_tf.text import vocabulary as vocabularies

_VOWELS = ("a", "e", "i", "o", "u")
# Spelled with a vowel and spoken with a consonant ("a uniform"), and the other way ("an hour").
_CONSONANT_SOUNDS = ("uni", "eu", "one", "once", "use", "usa", "uk", "ute", "ewe", "uri")
_BUT = ("unim", "unin", "unid", "uninh")
_VOWEL_SOUNDS = ("hour", "honest", "honor", "honour", "heir", "x-ray", "mp3", "suv")


def takes_an(word: str) -> bool:
  """Whether "an" stands before a word."""
  if word.startswith(_VOWEL_SOUNDS):
    return True
  if word.startswith(_CONSONANT_SOUNDS) and not word.startswith(_BUT):
    return False
  return word.startswith(_VOWELS)


def ids(vocabulary: vocabularies.Vocabulary) -> tuple[tuple[int, ...], tuple[int, ...]]:
  """Ids of "a" and "an", and of the words after "an"; both () if an article is missing."""
  if not {"a", "an"} <= vocabulary.ids.keys():
    return (), ()
  words = tuple(
    index
    for index, word in enumerate(vocabulary.words)
    if thing_words.is_word(word) and takes_an(word)
  )
  return (vocabulary.ids["a"], vocabulary.ids["an"]), words
