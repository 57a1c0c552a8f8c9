import pytest

from gcap_tf import errors
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.text import word_classes

WORDS = ("a", "dog", "dogs", "man", "men", "running", "runs", "in", "blue", "another", "two")
VOCABULARY = vocabularies.Vocabulary("captioner", ("", *WORDS, "UNK"), ("dog", "man", "blue", "a"))


def test_the_tagger_sorts_the_words():
  found = word_classes.WordClasses.by_tagger(VOCABULARY)
  assert found.nouns == found.things == ("dog", "dogs", "man", "men")
  assert found.verbs == ("running", "runs")
  assert set(found.modifiers) == {"blue", "another", "two"}


def test_without_a_tagger_the_labels_decide():
  found = word_classes.WordClasses.by_labels(VOCABULARY)
  assert found.nouns == ("dog", "dogs", "man", "men") and found.modifiers == ("another",)
  plain = vocabularies.Vocabulary("captioner", ("", "dog", "UNK"))
  assert word_classes.WordClasses.by_labels(plain).nouns == ()


def test_groups_hold_the_forms_of_one_word():
  found = word_classes.WordClasses(
    ("dog", "dogs", "men", "man", "cat"), ("runs", "running"), (), ()
  )
  words = [[VOCABULARY.words[i] for i in group] for group in found.groups(VOCABULARY)]
  assert words == [["dog", "dogs"], ["man", "men"], ["running", "runs"]]


def test_noun_and_verb_of_one_spelling_are_two_groups():
  words = vocabularies.Vocabulary("captioner", ("", "skateboard", "skateboarding", "UNK"))
  found = word_classes.WordClasses(("skateboard",), ("skateboarding",), (), ())
  assert found.groups(words) == ((1,), (2,))


def test_a_file_keeps_them(tmp_path):
  found = word_classes.WordClasses(("dog",), ("runs",), ("dog",), ("blue",))
  found.save(tmp_path / "classes.json")
  assert word_classes.WordClasses.load(tmp_path / "classes.json") == found
  assert found.is_thing(VOCABULARY) == [word == "dog" for word in VOCABULARY.words]


def test_another_file_is_refused_in_one_line(tmp_path):
  (tmp_path / "classes.json").write_text('{"words": ["dog"]}')
  with pytest.raises(errors.UserError, match="does not hold word classes"):
    word_classes.WordClasses.load(tmp_path / "classes.json")
