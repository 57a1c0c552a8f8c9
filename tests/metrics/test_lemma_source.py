import json

import pytest

from gcap_tf import errors
from gcap_tf.metrics import lemma_source


def test_a_users_table_wins_and_other_words_use_our_lemmas(tmp_path):
  path = tmp_path / "lemmas.json"
  path.write_text(json.dumps({"men": "homo"}))
  source = lemma_source.choose(path, {"lemma2w": {"x": ["men"]}})
  assert source.lemma("men") == "homo"
  assert source.lemma("children") == "child"
  assert str(path) in source.source


def test_a_dictionary_file_gives_its_wtol(tmp_path):
  path = tmp_path / "dic.json"
  path.write_text(json.dumps({"wtol": {"men": "homo"}, "wtod": {"man": 3}}))
  assert lemma_source.choose(path, {}).lemma("men") == "homo"


@pytest.mark.parametrize(
  "references, name",
  [
    ({"lemma2w": {"homo": ["men", "man"]}}, "lemma2w"),
    ({"lemma2w": {"homo": "men"}}, "lemma2w"),
    ({"wtol": {"men": "homo"}}, "wtol"),
  ],
)
def test_the_references_own_table_is_used(references, name):
  source = lemma_source.choose(None, references)
  assert source.lemma("men") == "homo"
  assert name in source.source


def test_without_a_table_our_lemmas_are_named():
  source = lemma_source.choose(None, {})
  assert source.lemma("men") == "man"
  assert source.source == "gcap_tf lemmas"


@pytest.mark.parametrize("value", [[], {"men": 3}])
def test_a_table_of_another_shape_is_refused(tmp_path, value):
  path = tmp_path / "lemmas.json"
  path.write_text(json.dumps(value))
  with pytest.raises(errors.UserError, match="expected an object of word: lemma"):
    lemma_source.choose(path, {})


def test_lemmas_of_videos_follow_the_part_of_speech():
  source = lemma_source.choose(None, {}, by_tag=True)
  assert source.source == lemma_source.BY_TAG
  assert [source.lemma(word) for word in ("his", "stuck")] == ["he", "stick"]
  assert lemma_source.choose(None, {"wtol": {"his": "x"}}, by_tag=True).lemma("his") == "x"
