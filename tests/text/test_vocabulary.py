"""Words and ids: layouts, files of three kinds, and files that are wrong."""

import json

import hypothesis
import pytest
from hypothesis import strategies

from gcap_tf import errors
from gcap_tf.text import vocabulary

CAPTIONS = [["a", "dog", "runs"], ["a", "cat"], ["a", "dog"]]


def test_matcher_layout_puts_specials_first_and_words_in_order_of_appearance():
  words = vocabulary.Vocabulary.build(CAPTIONS, "matcher", min_count=1)
  assert words.words == ("<pad>", "<start>", "<end>", "<unk>", "a", "dog", "runs", "cat")
  assert words.size == 8
  assert words.unknown_id == 3


def test_captioner_layout_keeps_0_for_the_end_and_has_unk_last():
  words = vocabulary.Vocabulary.build(CAPTIONS, "captioner", min_count=2)
  assert words.words == ("", "a", "dog", "UNK")
  assert words.unknown_id == 3


def test_min_count_is_inclusive():
  assert "dog" in vocabulary.Vocabulary.build(CAPTIONS, "matcher", min_count=2).ids
  assert "cat" not in vocabulary.Vocabulary.build(CAPTIONS, "matcher", min_count=2).ids


def test_a_vocabulary_without_words_is_refused():
  with pytest.raises(errors.UserError, match="no word occurs 9 times"):
    vocabulary.Vocabulary.build(CAPTIONS, "matcher", min_count=9)


@pytest.mark.parametrize("layout", ["matcher", "captioner"])
def test_words_that_look_like_specials_are_not_doubled(layout):
  words = vocabulary.Vocabulary.build([["<unk>", "UNK", "", "a"]], layout, min_count=1)
  assert words.words.count("a") == 1
  assert len(set(words.words)) == words.size


def test_encode_wraps_matcher_sentences_and_maps_unknown_words():
  matcher = vocabulary.Vocabulary.build(CAPTIONS, "matcher", min_count=2)
  assert matcher.encode(["a", "zebra"]) == [1, 4, 3, 2]
  captioner = vocabulary.Vocabulary.build(CAPTIONS, "captioner", min_count=2)
  assert captioner.encode(["a", "zebra"]) == [1, 3]


def test_decode_stops_at_the_end_and_skips_padding():
  matcher = vocabulary.Vocabulary.build(CAPTIONS, "matcher", min_count=1)
  assert matcher.decode([1, 4, 5, 2, 6, 0]) == ["a", "dog"]
  captioner = vocabulary.Vocabulary.build(CAPTIONS, "captioner", min_count=1)
  assert captioner.decode([1, 2, 0, 3]) == ["a", "dog"]


@hypothesis.given(
  strategies.lists(strategies.sampled_from(["a", "dog", "runs", "cat"]), max_size=12),
  strategies.sampled_from(["matcher", "captioner"]),
)
def test_decoding_undoes_encoding_of_known_words(tokens, layout):
  words = vocabulary.Vocabulary.build(CAPTIONS, layout, min_count=1)
  assert words.decode(words.encode(tokens)) == tokens


def test_label_ids_begin_at_1():
  words = vocabulary.Vocabulary.build(CAPTIONS, "matcher", 1, labels=["dog", "cat"])
  assert words.label_ids == {"dog": 1, "cat": 2}


def test_fingerprint_changes_with_words_and_layout_but_not_with_labels():
  words = vocabulary.Vocabulary.build(CAPTIONS, "matcher", 1)
  assert words.fingerprint == vocabulary.Vocabulary.build(CAPTIONS, "matcher", 1, ["x"]).fingerprint
  assert words.fingerprint != vocabulary.Vocabulary.build(CAPTIONS, "matcher", 2).fingerprint
  assert words.fingerprint != vocabulary.Vocabulary.build(CAPTIONS, "captioner", 1).fingerprint


@pytest.mark.parametrize("layout", ["matcher", "captioner"])
def test_save_and_load_give_the_same_vocabulary(tmp_path, layout):
  words = vocabulary.Vocabulary.build([*CAPTIONS, ["café", "😀"]], layout, 1, labels=["dog"])
  words.save(tmp_path / "vocabulary.json")
  assert vocabulary.Vocabulary.load(tmp_path / "vocabulary.json") == words


def _load(tmp_path, value):
  path = tmp_path / "vocab.json"
  path.write_text(value if isinstance(value, str) else json.dumps(value))
  return vocabulary.Vocabulary.load(path)


def test_a_scan_file_is_read_in_the_order_of_its_ids(tmp_path):
  specials = {"<end>": 2, "<pad>": 0, "<start>": 1, "<unk>": 3}
  words = _load(tmp_path, {"word2idx": {"dog": 5, "a": 4, **specials}, "idx2word": {}, "idx": 6})
  assert words.layout == "matcher"
  assert words.words[4:] == ("a", "dog")


def test_an_up_down_file_is_read_with_0_for_the_end(tmp_path):
  words = _load(tmp_path, {"ix_to_word": {"2": "dog", "1": "a", "3": "UNK"}})
  assert words.layout == "captioner"
  assert words.words == ("", "a", "dog", "UNK")


def test_a_bare_table_of_a_checkpoint_is_read_and_may_lack_unk(tmp_path):
  """Preparation adds UNK only where it dropped a word; the last id is held down regardless."""
  words = _load(tmp_path, {"2": "dog", "1": "a"})
  assert words.layout == "captioner"
  assert words.words == ("", "a", "dog")
  assert words.unknown_id == 2


def test_string_ids_are_sorted_as_numbers(tmp_path):
  table = {str(index): f"w{index}" for index in range(1, 12)}
  words = _load(tmp_path, {"ix_to_word": {**table, "12": "UNK"}})
  assert words.words[10] == "w10"


@pytest.mark.parametrize(
  ("value", "message"),
  [
    ({"ix_to_word": {"1": "UNK", "2": "dog"}}, "UNK as its last"),
    ({"ix_to_word": {"1": "a", "2": "a", "3": "UNK"}}, '"a" twice'),
    ({"ix_to_word": {"1": "a", "3": "dog", "4": "UNK"}}, '"dog" has 3'),
    ({"ix_to_word": {"0": "a", "1": "UNK"}}, '"a" has 0'),
    ({"ix_to_word": {"one": "a"}}, '"one" is not a number'),
    ({"ix_to_word": {}}, "must have words"),
    ({"ix_to_word": ["a"]}, "ix_to_word"),
    ({"word2idx": {"<pad>": 0, "<start>": 1, "<end>": 2, "a": 3}}, "must begin with <pad>"),
    ({"word2idx": {"<pad>": 0, "<start>": 1, "<end>": 2, "<unk>": 3, "a": 5}}, '"a" has 5'),
    ({"word2idx": {"<pad>": 0, "<start>": 1, "<end>": 2, "<unk>": 3, "a": 3}}, "has 3"),
    ({"word2idx": {"<pad>": "zero"}}, '"zero" is not a number'),
    ({"layout": "poem", "words": ["a"]}, "layout"),
    ({"layout": "captioner", "words": []}, "must keep id 0"),
    ({"layout": "captioner", "words": ["", 7, "UNK"]}, "words"),
    ({"layout": "matcher", "words": "abcd"}, "words"),
    ({"tokens": ["a"]}, "no vocabulary there"),
    (["a", "dog"], "no vocabulary there"),
    ("{not json", "is not valid JSON"),
  ],
)
def test_a_wrong_file_is_refused_by_name_and_reason(tmp_path, value, message):
  with pytest.raises(errors.UserError, match=message) as caught:
    _load(tmp_path, value)
  assert "vocab.json" in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
  with pytest.raises(errors.UserError, match=r"nothing\.json does not exist"):
    vocabulary.Vocabulary.load(tmp_path / "nothing.json")
