import json
import os
import pathlib
import shutil
import subprocess

import pytest

from gcap_tf.text import object_words, tagging, word_lemmas

_PENN = {"NOUN": "NNS", "PROPN": "NNS", "VERB": "VBD", "AUX": "VBD", "ADJ": "JJ", "ADV": "RB"}


@pytest.mark.parametrize(
  ("word", "lemma"),
  [
    *[("dressed", "dress"), ("stuck", "stick"), ("holding", "hold"), ("throws", "throw")],
    *[("his", "he"), ("their", "they"), ("Her", "she"), ("them", "they"), ("its", "its")],
    *[("men", "man"), ("papers", "papers"), ("shoes", "shoe"), ("older", "older"), ("", "")],
  ],
)
def test_a_word_has_the_lemma_of_its_part_of_speech(word, lemma):
  assert word_lemmas.lemma(word) == lemma


def test_possessives_name_the_class_of_their_person():
  classes = object_words.ObjectClasses(["he", "they", "dress"], lemma=word_lemmas.lemma)
  assert [classes.of(word) for word in ("his", "Their", "dressed", "tree")] == [
    *("he", "they", "dress"),
    None,
  ]
  plain = object_words.ObjectClasses(["he", "they", "dress"])
  assert plain.of("his") is None


def test_words_of_videos_have_the_lemmas_of_the_stanford_morphology(tmp_path):
  if "GCAP_DATA" not in os.environ:
    pytest.skip("GCAP_DATA does not name the folder of the datasets")
  if not shutil.which("java"):
    pytest.skip("the Stanford morphology needs Java")
  ptb = pytest.importorskip("pycocoevalcap.tokenizer.ptbtokenizer")
  folder = pathlib.Path(os.environ["GCAP_DATA"]) / "activitynet_entities"
  name = "anet_entities_cleaned_class_thresh50_test_skeleton.json"
  value = json.loads((folder / name).read_text())
  words = sorted(
    {
      token.lower()
      for video in value["annotations"].values()
      for segment in video["segments"].values()
      for token in segment["tokens"]
      if token.isalpha()
    }
  )
  tags = [tags[0] for tags in tagging.load_tagger().tag([[word] for word in words])]
  pronouns = {"his", "their", "her", "your", "our", "my", "its"}
  penn = [
    "PRP$" if word in pronouns else "VBD" if tag == "ADJ" and word_lemmas.is_verb_form(word)
    else _PENN.get(tag, "PRP" if tag == "PRON" else "IN")
    for word, tag in zip(words, tags, strict=True)
  ]  # fmt: skip
  lines = (f"{word}_{tag}\n" for word, tag in zip(words, penn, strict=True))
  (tmp_path / "words.txt").write_text("".join(lines))
  jar = pathlib.Path(ptb.__file__).with_name(ptb.STANFORD_CORENLP_3_4_1_JAR)
  result = subprocess.run(
    ["java", "-cp", jar, "edu.stanford.nlp.process.Morphology", tmp_path / "words.txt"],
    capture_output=True,
    check=True,
    encoding="utf-8",
  )
  theirs = [lemma.lower() for lemma in result.stdout.split()]
  differ = [
    (word, word_lemmas.lemma(word), other)
    for word, other in zip(words, theirs, strict=True)
    if word_lemmas.lemma(word) != other
  ]
  assert len(words) > 5000
  assert len(differ) / len(words) < 0.015, differ
