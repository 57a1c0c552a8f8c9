"""What the brackets of marked-up captions say about parts of speech."""

import zipfile

import pytest

from gcap_tf import errors
from trainers.tagger import weak_tags

MARKED = (
  "[/EN#1/people A young man] in [/EN#2/clothing a blue ski jacket] stands near "
  "[/EN#3/other a group] of [/EN#4/animals running dogs] , jumping ."
)
LEXICON = weak_tags.Lexicon(
  [("a", "DET")] * 9
  + [("young", "ADJ")] * 9
  + [("him", "PRON")] * 9
  + [("front", "NOUN")] * 9
  + [("during", "ADP")] * 9
  + [("in", "ADP")] * 9
  + [("seen", "VERB")] * 3
)


def _tags(marked: str, corpus: list[str] = ()) -> dict[str, str]:
  sentence = weak_tags.phrases(marked)
  tagger = weak_tags.WeakTagger([*map(weak_tags.phrases, corpus), sentence], LEXICON)
  words = [word for phrase in sentence for word in phrase.words]
  return dict(zip(words, tagger.tags(sentence), strict=True))


def test_phrases_and_the_words_between_them_are_separated():
  found = weak_tags.phrases(MARKED)
  assert [phrase.kind for phrase in found][:3] == ["people", None, "clothing"]
  assert found[0].words == ["a", "young", "man"]
  assert found[-1].words == ["jumping"]


def test_the_last_word_of_a_phrase_is_a_noun():
  tags = _tags(MARKED)
  assert {tags[word] for word in ("man", "jacket", "group", "dogs")} == {weak_tags.NOUN}


def test_the_word_before_of_is_a_noun():
  assert _tags("[/EN#1/people a bunch of kids]")["bunch"] == weak_tags.NOUN


def test_a_word_that_the_treebank_never_has_as_a_noun_is_left_open():
  assert _tags("[/EN#1/people him] sits")["him"] == ""


def test_a_colour_is_an_adjective_in_a_phrase_and_open_at_its_end():
  assert _tags(MARKED)["blue"] == "ADJ"
  assert _tags("[/EN#1/clothing red]")["red"] == ""


def test_modifiers_known_as_adjectives_are_no_nouns_and_others_are_open():
  tags = _tags(MARKED)
  assert tags["young"] == weak_tags.NOT_NOUN
  assert tags["ski"] == ""
  assert _tags("[/EN#1/clothing a sleeveless shirt]")["sleeveless"] == weak_tags.NOT_NOUN


def test_ing_words_are_verbs_before_the_living_and_nouns_in_set_pairs():
  assert _tags(MARKED)["running"] == "VERB|ADJ"
  pool = "[/EN#1/scene a swimming pool]"
  assert _tags(pool)["swimming"] == ""
  assert _tags(pool, [pool] * 10)["swimming"] == "NOUN"


def test_words_between_phrases_are_no_nouns_but_for_known_ones():
  tags = _tags(MARKED)
  assert tags["jumping"] == "VERB"
  assert tags["stands"] == weak_tags.NOT_NOUN
  assert tags["in"] == weak_tags.NOT_NOUN
  assert _tags("in front scuba during")["front"] == ""
  assert _tags("in front scuba during")["scuba"] == ""
  assert _tags("in front scuba during")["during"] == ""


def test_a_lexicon_says_nothing_about_rare_words():
  assert LEXICON.share("seen", "VERB") is None
  assert LEXICON.share("never", "VERB") is None
  assert LEXICON.share("young", "ADJ", "NOUN") == 1.0


def test_sentences_are_read_from_the_archive_or_the_folder(tmp_path):
  (tmp_path / "a").mkdir()
  with zipfile.ZipFile(tmp_path / "a/annotations.zip", "w") as archive:
    archive.writestr("Sentences/7.txt", "one\ntwo\n")
    archive.writestr("Annotations/7.xml", "<x/>")
  (tmp_path / "b/Sentences").mkdir(parents=True)
  (tmp_path / "b/Sentences/7.txt").write_text("one\ntwo\n")
  expected = [("7", ["one", "two"])]
  assert list(weak_tags.read_entities(tmp_path / "a")) == expected
  assert list(weak_tags.read_entities(tmp_path / "b")) == expected


def test_a_folder_without_sentences_is_named(tmp_path):
  with pytest.raises(errors.UserError, match=r"neither annotations\.zip nor Sentences"):
    list(weak_tags.read_entities(tmp_path))
