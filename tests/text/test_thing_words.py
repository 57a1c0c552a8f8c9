from gcap_tf.text import thing_words
from gcap_tf.text import vocabulary as vocabularies

WORDS = ("", "a", "dog", "dogs", "man", "runs", "on", "green", "UNK")


def test_asked_names_match_by_lemma():
  vocabulary = vocabularies.Vocabulary("captioner", WORDS)
  found = thing_words.is_thing(vocabulary, ["dog"])
  assert [word for word, thing in zip(WORDS, found, strict=True) if thing] == ["dog", "dogs"]


def test_labels_of_regions_are_the_default():
  vocabulary = vocabularies.Vocabulary("captioner", WORDS, ("man",))
  found = thing_words.is_thing(vocabulary)
  assert [word for word, thing in zip(WORDS, found, strict=True) if thing] == ["man"]


def test_labels_that_cannot_be_nouns_name_no_thing():
  nouns = ("man", "clown", "uniform", "dogs")
  others = ("a", "two", "red", "standing", "runs", "sits")
  labels = ("man", "clown", "uniform", "dog", "a", "two", "red", "standing", "run", "sit")
  vocabulary = vocabularies.Vocabulary("captioner", ("", *nouns, *others, "UNK"), labels)
  found = thing_words.is_thing(vocabulary)
  chosen = [word for word, thing in zip(vocabulary.words, found, strict=True) if thing]
  assert chosen == list(nouns)


def test_nouns_are_taken_where_there_are_no_labels():
  nouns = ("man", "dog", "horse", "grass", "people", "hat")
  others = ("a", "on", "green", "young", "running", "sits", "wearing", "two", "with", "his")
  vocabulary = vocabularies.Vocabulary("captioner", ("", *nouns, *others, "UNK"))
  found = thing_words.is_thing(vocabulary)
  chosen = [word for word, thing in zip(vocabulary.words, found, strict=True) if thing]
  assert chosen == list(nouns)
