from gcap_tf.data.readers import phrase_heads
from gcap_tf.text import object_words

CLASSES = object_words.ObjectClasses(["clown", "pear", "hat"])


def test_the_last_word_that_names_a_class_is_the_object_word():
  assert phrase_heads.class_word(("clown", "with", "two", "hats"), CLASSES) == (3, "hat")


def test_plurals_name_the_class_of_their_lemma():
  assert phrase_heads.class_word(("ripe", "pears"), CLASSES) == (1, "pear")


def test_a_phrase_without_class_has_no_object_word():
  assert phrase_heads.class_word(("a", "purple", "tent"), CLASSES) is None


def test_attributes_are_the_describing_words_after_the_last_preposition():
  assert phrase_heads.attributes(("a", "pair", "of", "two", "tall", "and", "tired")) == (
    "tall",
    "tired",
  )


def test_digits_are_no_attributes():
  assert phrase_heads.attributes(("3", "green")) == ("green",)


def test_pronouns_numbers_and_colours_are_no_class_names():
  assert not any(map(phrase_heads.is_name, ("one", "all", "him", "red", "12")))
  assert phrase_heads.is_name("clown")


def test_noun_lemma_takes_off_the_plural():
  assert phrase_heads.noun_lemma("clowns") == "clown"
