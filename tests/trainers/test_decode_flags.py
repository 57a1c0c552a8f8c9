"""Tests of trainers/decode_flags.py."""

import types

import pytest
from absl import flags
from absl.testing import flagsaver

from gcap_tf.captioners import catalog
from gcap_tf.decoding import config as decode_config
from gcap_tf.runs import run_words
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.text import word_classes
from trainers import decode_flags

flags.FLAGS(["test"])


WORDS = vocabularies.Vocabulary("captioner", ("", "a", "dog", "dogs", "UNK"))


@pytest.fixture(autouse=True)
def word_classes_file(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  word_classes.WordClasses(("dog", "dogs"), (), ("dog",), ()).save(run_words.FILE)


def run(model="updown", **config):
  cls = catalog.CAPTIONERS.get(model)
  sizes = {"vocabulary_size": 5, "feature_size": 4, "hidden_size": 4, "embedding_size": 4}
  captioner = cls(cls.Config(**sizes))
  return types.SimpleNamespace(model=captioner, config=config, folder=".", vocabulary=WORDS)


def test_users_get_the_rules_against_repeats_and_unk():
  found = decode_flags.configuration(run())
  assert found.unknown == "second_best" and found.no_repeat_ngram == 3
  assert found.word_groups == ((2, 3),) and found.determiners == (1,) and found.end_below == 0.1
  with flagsaver.flagsaver(no_repeat_ngram=0, repeat_words="allow"):
    found = decode_flags.configuration(run())
  assert not (found.no_repeat_ngram or found.word_groups or found.decoding_constraint)


def test_as_published_the_captioner_decides_what_the_flags_leave_open():
  with flagsaver.flagsaver(as_published=True):
    assert decode_flags.configuration(run()).unknown == "allow"
    assert decode_flags.configuration(run("gvd")).unknown == "second_best"
    assert decode_flags.configuration(run()) == decode_config.DecodeConfig()
    assert decode_flags.rules(run()) is None


def test_the_limit_of_an_imported_program_is_kept():
  assert decode_flags.configuration(run(max_length=16)).max_length == 16
  assert decode_flags.configuration(run()).max_length == 20


def test_answers_follow_the_word_classes():
  assert decode_flags.rules(run()).things == (2,)


def test_flags_decide_first():
  with flagsaver.flagsaver(decode="beam", beam_size=5, max_length=7):
    found = decode_flags.configuration(run("gvd", max_length=16))
  assert (found.method, found.beam_size, found.max_length) == ("beam", 5, 7)
  assert found.unknown == "suppress"
  with flagsaver.flagsaver(unknown="allow"):
    assert decode_flags.configuration(run("gvd")).unknown == "allow"
