"""Object words: by name, by lemma, with collisions, from files and from counts."""

import os
import pathlib

import pytest

from gcap_tf import errors
from gcap_tf.text import object_words


def test_a_word_names_the_class_of_its_lemma():
  classes = object_words.ObjectClasses(["man", "dog", "sunglass", "clothes"])
  assert classes.of("men") == "man"
  assert classes.of("Dogs") == "dog"
  assert classes.of("sunglasses") == "sunglass"
  assert classes.of("clothes") == "clothes"
  assert classes.of("zebra") is None


def test_synonyms_are_not_merged():
  classes = object_words.ObjectClasses(["man", "bike"])
  assert classes.of("guy") is None
  assert classes.of("bicycle") is None


def test_a_class_name_matches_first_and_the_last_class_wins_a_shared_lemma():
  classes = object_words.ObjectClasses(["outfits", "paper", "outfit", "papers"])
  assert classes.of("paper") == "paper"
  assert classes.of("papers") == "papers"
  assert classes.of("outfits") == "outfits"
  twice = object_words.ObjectClasses(["wolf", "wolves"], vocabulary=["wolf", "wolves"])
  assert twice.of("WOLVES") == "wolves"
  last = object_words.ObjectClasses(["shoe", "shoes"])
  assert last._by_lemma["shoe"] == "shoes"


def test_a_verb_names_no_object_where_its_tag_is_known():
  classes = object_words.ObjectClasses(["dress", "he"])
  assert classes.of("dresses") == "dress"
  assert classes.of("dresses", "NOUN") == "dress"
  assert classes.of("dresses", "VERB") is None
  assert classes.of("he", "PRON") == "he"


def test_classes_outside_the_vocabulary_are_never_named():
  classes = object_words.ObjectClasses(["man", "graffitus"], vocabulary=["man", "graffiti"])
  assert classes.of("graffiti") is None
  assert classes.of("men") == "man"
  assert object_words.ObjectClasses(["graffitus"]).of("graffiti") == "graffitus"


def test_ids_follow_the_order_of_the_names():
  assert object_words.ObjectClasses(["man", "dog"]).ids == {"man": 1, "dog": 2}


def test_a_file_holds_a_class_a_line_with_aliases(tmp_path):
  (tmp_path / "classes.txt").write_text("couch, sofa, settee\n\ndog\n")
  classes = object_words.ObjectClasses.load(tmp_path / "classes.txt")
  assert classes.names == ("couch", "dog")
  assert classes.of("sofas") == "couch"
  assert classes.of("settee") == "couch"


@pytest.mark.parametrize(
  ("content", "message"),
  [
    ("", "is empty"),
    ("dog\ncat\ndog\n", r'classes\.txt:3: class "dog" is listed twice'),
    (", sofa\n", r"classes\.txt:1: an alias without a class"),
  ],
)
def test_a_wrong_file_is_refused(tmp_path, content, message):
  (tmp_path / "classes.txt").write_text(content)
  with pytest.raises(errors.UserError, match=message):
    object_words.ObjectClasses.load(tmp_path / "classes.txt")


def test_a_missing_or_binary_file_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match="does not exist"):
    object_words.ObjectClasses.load(tmp_path / "classes.txt")
  (tmp_path / "classes.txt").write_bytes(b"\xff\xfe\x00")
  with pytest.raises(errors.UserError, match="not UTF-8"):
    object_words.ObjectClasses.load(tmp_path / "classes.txt")


def test_doubled_or_no_names_are_refused():
  with pytest.raises(errors.UserError, match='"dog" twice'):
    object_words.ObjectClasses(["dog", "dog"])
  with pytest.raises(errors.UserError, match="empty"):
    object_words.ObjectClasses([])


def test_classes_are_built_from_the_lemmas_of_frequent_head_words():
  counts = {"dog": 3, "dogs": 2, "man": 4, "men": 4, "zebra": 4, "cat": 5}
  classes = object_words.ObjectClasses.build(counts, min_count=5)
  assert classes.names == ("man", "cat", "dog")


def test_too_high_a_count_is_an_error():
  with pytest.raises(errors.UserError, match="no word heads 9 phrases"):
    object_words.ObjectClasses.build({"dog": 1}, min_count=9)


def test_saved_classes_load_again(tmp_path):
  object_words.ObjectClasses(["man", "dog"]).save(tmp_path / "classes.txt")
  assert object_words.ObjectClasses.load(tmp_path / "classes.txt").names == ("man", "dog")


def test_the_classes_of_flickr_name_themselves():
  if "GCAP_DATA" not in os.environ:
    pytest.skip("GCAP_DATA does not name the folder of the datasets")
  path = pathlib.Path(os.environ["GCAP_DATA"]) / "flickr30k_class_name.txt"
  classes = object_words.ObjectClasses.load(path)
  assert len(classes.names) == 480
  assert all(classes.of(name) == name for name in classes.names)


def test_every_word_has_the_column_of_the_label_it_names():
  words = {"a": 1, "dogs": 2, "dog": 3, "cat": 4, "UNK": 5}
  assert object_words.columns_named(words, ("cat", "dog"), 5) == [-1, -1, 1, 1, 0, -1]


@pytest.mark.parametrize(
  ("word", "plural"),
  [("dogs", True), ("people", True), ("women", True), ("dog", False), ("jeans", False)],
)
def test_a_plural_names_several_things(word, plural):
  assert object_words.is_plural(word) == plural
