"""The tagger of captions: interface, the shipped pipeline, and its accuracy."""

# bazel: data = ["hand_tags.json"]

import importlib.util
import os
import pathlib

import pytest
import spacy

from gcap_tf import errors
from gcap_tf.text import tagging
from trainers.tagger import conllu, tagged, tagger_scores

HAND_TAGS = pathlib.Path(__file__).with_name("hand_tags.json")


@pytest.fixture(scope="module")
def shipped():
  return tagging.load_tagger("shipped")


def test_every_word_gets_a_tag_and_empty_sentences_stay_empty(shipped):
  sentences = [["a", "man", "rides", "a", "brown", "horse"], [], ["two", "dogs"], []]
  tags = shipped.tag(sentences)
  assert [len(row) for row in tags] == [6, 0, 2, 0]
  assert tags[0] == ["DET", "NOUN", "VERB", "DET", "ADJ", "NOUN"]
  assert tags[2] == ["NUM", "NOUN"]


def test_no_sentences_give_no_tags(shipped):
  assert shipped.tag([]) == []
  assert shipped.tag([[]]) == [[]]


def test_tags_do_not_depend_on_the_batch(shipped):
  sentence = ["a", "woman", "in", "a", "red", "coat", "smiles"]
  others = [["dogs"] * length for length in range(1, 30)]
  assert shipped.tag([sentence])[0] == shipped.tag([*others, sentence, *others])[29]


def test_punctuation_and_unknown_signs_are_tagged_too(shipped):
  assert shipped.tag([["a", "dog", ".", "😀", "xqzt"]])[0][2] == "PUNCT"


def test_predictions_equal_those_of_the_whole_pipeline(shipped):
  pipeline = spacy.load(tagging.SHIPPED)
  words = ["three", "children", "play", "near", "a", "fountain"]
  doc = pipeline(spacy.tokens.Doc(pipeline.vocab, words=words))
  assert shipped.tag([words])[0] == [token.tag_ for token in doc]


def test_auto_takes_the_shipped_pipeline_where_spacys_own_is_missing():
  expected = "en_core_web_sm" if importlib.util.find_spec("en_core_web_sm") else "shipped"
  assert tagging.load_tagger().name == expected


def test_a_pipeline_that_sets_pos_is_read_through_pos(tmp_path):
  pipeline = spacy.blank("en")
  ruler = pipeline.add_pipe("attribute_ruler")
  ruler.add([[{"LOWER": "dog"}]], {"POS": "NOUN"})
  tagger = tagging.Tagger("ruled", pipeline)
  assert tagger.tag([["dog", "dog"], []]) == [["NOUN", "NOUN"], []]


def test_a_missing_pipeline_and_one_without_a_tagger_are_refused(tmp_path):
  with pytest.raises(errors.UserError, match='no spaCy pipeline "nothing_here"'):
    tagging.load_tagger("nothing_here")
  spacy.blank("en").to_disk(tmp_path / "blank")
  with pytest.raises(errors.UserError, match="has no tagger"):
    tagging.load_tagger(str(tmp_path / "blank"))


def test_the_shipped_files_are_small_and_carry_their_licence():
  sizes = {path: path.stat().st_size for path in tagging.SHIPPED.rglob("*") if path.is_file()}
  assert max(sizes.values()) < 5_000_000
  assert "CC BY-SA 4.0" in (tagging.SHIPPED / "LICENSE").read_text()


def _data() -> pathlib.Path:
  if "GCAP_DATA" not in os.environ:
    pytest.skip("GCAP_DATA does not name the folder of the datasets")
  return pathlib.Path(os.environ["GCAP_DATA"])


def test_at_least_94_percent_of_the_treebanks_dev_part_is_right(shipped):
  dev = tagged.treebank(conllu.find(_data() / "ud_english_ewt", "dev"))
  assert tagger_scores.accuracy(shipped, dev) >= 0.94


def test_noun_f1_on_captions_tagged_by_hand_is_at_least_96_percent(shipped):
  captions = tagged.hand_tagged(HAND_TAGS, _data() / "flickr30k_entities")
  assert len(captions) == 200
  assert tagger_scores.noun_scores(shipped, captions)["f1"] >= 0.96
