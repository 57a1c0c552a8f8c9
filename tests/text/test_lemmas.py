"""Lemmas of single words, as CoreNLP gives them."""

import itertools
import os
import pathlib
import shutil
import subprocess

import hypothesis
import pytest
from hypothesis import strategies

from gcap_tf import errors
from gcap_tf.text import lemmas
from trainers.tagger import conllu, weak_tags

NOUNS = """
  men man | women woman | children child | people people | feet foot | teeth tooth | mice mouse
  geese goose | wolves wolf | knives knife | leaves leaf | lives life | scarves scarf | elves elf
  shelves shelf
  glasses glass | clothes clothes | sunglasses sunglass | pants pants | shorts shorts | jeans jeans
  dogs dog | buses bus | bus bus | boxes box | benches bench | dresses dress | brushes brush
  houses house | horses horse | lenses lens | grass grass | tennis tennis | bikinis bikini
  ladies lady | cookies cookie | ties tie | toys toy | tomatoes tomato | shoes shoe | canoes canoe
  waves wave | gloves glove | t-shirts t-shirt | firemen fireman | grandchildren grandchild
  specimen specimen | us we | them they | this this | gas gas | fish fish | kids kid | photos photo
  mustaches mustache | skis ski | cacti cactus | flip-flops flip-flop | Dogs dog
"""
VERBS = """
  running run | sitting sit | riding ride | making make | wearing wear | smiling smile | lying lie
  carries carry | tried try | watches watch | goes go | stopped stop | seeing see | agreed agree
  feed feed | was be | took take | rode ride | using use | dancing dance | juggling juggle
  hanging hang | changing change | stuffed stuff | rolling roll | played play | bring bring
  decorated decorate | preparing prepare | added add | skiing ski
"""


def _pairs(text: str) -> list[tuple[str, str]]:
  words = text.replace("|", " ").split()
  return list(zip(words[::2], words[1::2], strict=True))


@pytest.mark.parametrize(("form", "expected"), _pairs(NOUNS))
def test_nouns(form, expected):
  assert lemmas.lemma(form) == expected


@pytest.mark.parametrize(("form", "expected"), _pairs(VERBS))
def test_verbs(form, expected):
  assert lemmas.lemma(form, "VERB") == expected


def test_the_tag_decides_where_forms_coincide():
  assert lemmas.lemma("leaves", "NOUN") == "leaf"
  assert lemmas.lemma("leaves", "VERB") == "leave"
  assert lemmas.lemma("better", "ADJ") == "good"
  assert lemmas.lemma("better", "ADV") == "well"
  assert lemmas.lemma("him", "PRON") == "he"
  assert lemmas.lemma("during", "ADP") == "during"


@hypothesis.given(
  strategies.text("abcdefghiklmnoprstuvwy-'", max_size=12),
  strategies.sampled_from(["NOUN", "PROPN", "VERB", "AUX", "ADJ", "PRON", "X"]),
)
def test_every_word_has_a_lemma(word, tag):
  found = lemmas.lemma(word, tag)
  assert isinstance(found, str)
  assert bool(found) == bool(word)


@pytest.mark.parametrize(("form", "expected"), _pairs(NOUNS))
def test_the_lemma_of_a_lemma_is_itself(form, expected):
  assert lemmas.lemma(expected) == expected


def test_a_missing_table_is_named(monkeypatch, tmp_path):
  monkeypatch.setattr(lemmas, "TABLE", tmp_path / "lemmas.tsv")
  lemmas._table.cache_clear()
  with pytest.raises(errors.UserError, match=r"lemmas\.tsv is missing"):
    lemmas.lemma("word-not-cached-yet", "VERB")
  monkeypatch.undo()
  lemmas._table.cache_clear()


def _data() -> pathlib.Path:
  if "GCAP_DATA" not in os.environ:
    pytest.skip("GCAP_DATA does not name the folder of the datasets")
  return pathlib.Path(os.environ["GCAP_DATA"])


@pytest.mark.parametrize(("tag", "least"), [("NOUN", 0.97), ("VERB", 0.97), ("ADJ", 0.97)])
def test_lemmas_agree_with_the_held_out_part_of_the_treebank(tag, least):
  tokens = [
    token
    for sentence in conllu.read(conllu.find(_data() / "ud_english_ewt", "dev"))
    for token in sentence
    if token.tag == tag and token.form.isalpha() and not token.typo
  ]
  right = sum(lemmas.lemma(token.form, tag) == token.lemma.lower() for token in tokens)
  assert right / len(tokens) > least


def test_nouns_of_captions_have_the_lemmas_of_the_stanford_morphology(tmp_path):
  words = sorted(
    {
      phrase.words[-1]
      for _, lines in itertools.islice(
        weak_tags.read_entities(_data() / "flickr30k_entities"), 4000
      )
      for line in lines
      for phrase in weak_tags.phrases(line)
      if phrase.kind is not None and phrase.words and phrase.words[-1].isalpha()
    }
    - {"i", "me", "him", "us", "them", "whom", "these", "those", "themselves"}
  )
  if not shutil.which("java"):
    pytest.skip("the Stanford morphology needs Java")
  ptb = pytest.importorskip("pycocoevalcap.tokenizer.ptbtokenizer")
  jar = pathlib.Path(ptb.__file__).with_name(ptb.STANFORD_CORENLP_3_4_1_JAR)
  (tmp_path / "words.txt").write_text("".join(f"{word}_NNS\n" for word in words))
  result = subprocess.run(
    ["java", "-cp", jar, "edu.stanford.nlp.process.Morphology", tmp_path / "words.txt"],
    capture_output=True,
    check=True,
    encoding="utf-8",
  )
  stanford = result.stdout.split()
  differ = [
    (word, theirs)
    for word, theirs in zip(words, stanford, strict=True)
    if lemmas.lemma(word) != theirs
  ]
  assert len(words) > 3000
  assert len(differ) / len(words) < 0.015, differ


def test_class_names_of_flickr_are_their_own_lemmas():
  names = (_data() / "flickr30k_class_name.txt").read_text().split()
  assert [name for name in names if lemmas.lemma(name) != name] == ["outfits"]
