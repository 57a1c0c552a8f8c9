import pytest

from gcap_tf.text import articles
from gcap_tf.text import vocabulary as vocabularies


@pytest.mark.parametrize("word", ["elephant", "umbrella", "animal", "hour", "orange"])
def test_an_stands_before_the_sound_of_a_vowel(word):
  assert articles.takes_an(word)


@pytest.mark.parametrize("word", ["dog", "uniform", "unicycle", "european", "one", "house", "used"])
def test_a_stands_before_other_sounds(word):
  assert not articles.takes_an(word)


def test_ids_are_those_of_the_vocabulary():
  words = ("", "a", "an", "elephant", "dog", "UNK")
  assert articles.ids(vocabularies.Vocabulary("captioner", words)) == ((1, 2), (1, 2, 3))
  assert articles.ids(vocabularies.Vocabulary("captioner", ("", "a", "dog"))) == ((), ())
