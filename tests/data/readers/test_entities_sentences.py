import hypothesis
import pytest
from hypothesis import strategies as st

from gcap_tf import errors
from gcap_tf.data.readers import entities_sentences


def parse(line):
  return entities_sentences.parse(line, "Sentences/7.txt, line 1")


def test_mentions_are_spans_of_the_tokens_that_remain():
  sentence = parse("[/EN#3/people Two , tired clowns] juggle [/EN#8/other pears] .")
  assert sentence.text == "Two , tired clowns juggle pears ."
  assert sentence.tokens == ("two", "tired", "clowns", "juggle", "pears")
  assert [(m.chain, m.start, m.end) for m in sentence.mentions] == [("3", 0, 3), ("8", 4, 5)]


def test_a_mention_may_have_several_types():
  sentence = parse("[/EN#5/bodyparts/people A bearded chin] shines")
  assert sentence.mentions[0].kinds == ("bodyparts", "people")


def test_a_mention_of_punctuation_alone_is_left_out_and_counted():
  sentence = parse("[/EN#5/other ,] a kite [/EN#6/other )] flies")
  assert sentence.mentions == () and sentence.empty_mentions == 2
  assert sentence.tokens == ("a", "kite", "flies")


def test_text_without_mentions_is_a_sentence():
  assert parse("Snow falls .").tokens == ("snow", "falls")


@pytest.mark.parametrize(
  "line",
  [
    "[/EN#1/people A clown juggles",
    "A clown] juggles",
    "[/EN#1/people A [/EN#2/other red] clown] juggles",
  ],
)
def test_unbalanced_brackets_are_named_with_their_column(line):
  with pytest.raises(errors.UserError, match=r"7\.txt, line 1: unbalanced bracket at column \d+"):
    parse(line)


@pytest.mark.parametrize(
  "mention",
  ["[/EN#/people A clown]", "[/EN#1 A clown]", "[A clown]", "[/EN#1/people]", "[/EN#1//x A clown]"],
)
def test_malformed_mentions_are_refused_with_the_expected_form(mention):
  with pytest.raises(errors.UserError, match=r"malformed mention .*\[/EN#chain/type words\]"):
    parse(f"Once {mention} juggles")


def test_a_caption_without_words_is_refused():
  with pytest.raises(errors.UserError, match="no words"):
    parse(" . ")


@hypothesis.given(st.text("[]/EN#0123 peoplé\t.,'\"-", max_size=60))
def test_any_text_parses_or_is_refused_with_its_place(text):
  try:
    sentence = parse(text)
  except errors.UserError as error:
    assert str(error).startswith("Sentences/7.txt, line 1: ")
  else:
    assert sentence.tokens
    ends = [0, *(edge for mention in sentence.mentions for edge in (mention.start, mention.end))]
    assert ends == sorted(ends) and ends[-1] <= len(sentence.tokens)
