"""The tokenizer in a graph gives what Python gives, also out of a SavedModel."""

import hypothesis
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401 (registers the ops of the SavedModel)
from hypothesis import strategies

from gcap_tf.text import graph_tokenizer, tokenizer, vocabulary

# Letters that Unicode 14 and later added have no lower case in TensorFlow's ICU yet.
NEWER = "Ⱟ\ua7c0\ua7d0\ua7d6\ua7d8"
CAPTION_TEXT = strategies.text(
  strategies.sampled_from(
    list("aAbnstmdrevl'.,:-–\"`!?;()[]{}#$%&*+<>=/@ 0159\t\n\xa0é’“”…😀👍🏽🇫🇷")
  )
  | strategies.characters(codec="utf-8", max_codepoint=0xFFFF, exclude_characters=NEWER),
  max_size=40,
)
CAPTIONS = ["A man's dog doesn't bark, at 5:30.", "", "Two T-shirts 😀 — “U.S.”"]
STYLES = tuple(tokenizer.RULES)


@pytest.fixture(scope="module")
def tokenizers():
  return {style: graph_tokenizer.GraphTokenizer(style) for style in STYLES}


def _words(ragged: tf.RaggedTensor) -> list[list[str]]:
  return [[word.decode() for word in row] for row in ragged.to_list()]


@pytest.mark.parametrize("style", STYLES)
@hypothesis.settings(deadline=None, max_examples=60)
@hypothesis.given(texts=strategies.lists(CAPTION_TEXT, min_size=1, max_size=20))
def test_graph_and_python_give_the_same_words(tokenizers, style, texts):
  assert _words(tokenizers[style].tokenize(texts)) == [
    tokenizer.tokenize(text, style) for text in texts
  ]


def test_no_captions_give_no_rows(tokenizers):
  assert tokenizers["caption"].tokenize(tf.zeros([0], tf.string)).to_list() == []


def test_bytes_that_are_not_utf8_become_replacement_characters(tokenizers):
  assert _words(tokenizers["caption"].tokenize([b"a \xff dog"])) == [["a", "\ufffd", "dog"]]


def test_matcher_ids_are_wrapped_and_padded():
  words = vocabulary.Vocabulary.build([["a", "dog"]], "matcher", 1)
  found = graph_tokenizer.GraphTokenizer("caption", words)(["A dog!", "zebra", ""])
  assert found["tokens"].numpy().tolist() == [[1, 4, 5, 2], [1, 3, 2, 0], [1, 2, 0, 0]]
  assert found["token_mask"].numpy().sum(axis=1).tolist() == [4, 3, 2]


def test_captioner_ids_end_in_0_and_the_mask_takes_the_first_0_in():
  words = vocabulary.Vocabulary.build([["a", "dog"]], "captioner", 1)
  found = graph_tokenizer.GraphTokenizer("caption", words)(["A dog!", "zebra", ""])
  assert found["tokens"].numpy().tolist() == [[1, 2, 0], [3, 0, 0], [0, 0, 0]]
  assert found["token_mask"].numpy().tolist() == [
    [True, True, True],
    [True, True, False],
    [True, False, False],
  ]


@pytest.mark.parametrize("layout", ["matcher", "captioner"])
def test_ids_equal_those_of_python(layout):
  words = vocabulary.Vocabulary.build([tokenizer.tokenize(text) for text in CAPTIONS], layout, 1)
  found = graph_tokenizer.GraphTokenizer("caption", words)(CAPTIONS)
  for text, ids, mask in zip(
    CAPTIONS, found["tokens"].numpy(), found["token_mask"].numpy(), strict=True
  ):
    expected = words.encode(tokenizer.tokenize(text)) + ([0] if layout == "captioner" else [])
    assert ids[mask].tolist() == expected


def test_ids_without_a_vocabulary_are_refused():
  with pytest.raises(ValueError, match="needs a vocabulary"):
    graph_tokenizer.GraphTokenizer("caption")(CAPTIONS)


def test_a_saved_model_gives_the_same_words_and_ids(tmp_path):
  words = vocabulary.Vocabulary.build([["a", "dog", "man"]], "matcher", 1)
  module = graph_tokenizer.GraphTokenizer("caption", words)
  tf.saved_model.save(module, str(tmp_path))
  loaded = tf.saved_model.load(str(tmp_path))
  assert _words(loaded.tokenize(tf.constant(CAPTIONS))) == _words(module.tokenize(CAPTIONS))
  assert (
    loaded(tf.constant(CAPTIONS))["tokens"].numpy().tolist()
    == module(CAPTIONS)["tokens"].numpy().tolist()
  )
