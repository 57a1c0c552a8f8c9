import hypothesis
from hypothesis import strategies as st

from gcap_tf.data.readers import emoji_words


def test_letters_and_emoji_remain():
  assert emoji_words.tokenize("Don't STOP, 24/7! \U0001f600") == ["dont", "stop", "\U0001f600"]


def test_emoji_are_parted_from_words_and_each_other():
  assert emoji_words.tokenize("sun\u2600day\U0001f600\U0001f600") == [
    "sun",
    "\u2600",
    "day",
    "\U0001f600",
    "\U0001f600",
  ]


def test_the_coloured_form_of_an_emoji_is_the_same_word():
  assert emoji_words.tokenize("\u2764\ufe0f \u2764") == ["\u2764", "\u2764"]


def test_joined_emoji_are_one_word():
  family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
  waving = "\U0001f44b\U0001f3fd"
  flag = "\U0001f1eb\U0001f1f7"
  assert emoji_words.tokenize(family + waving + flag + flag) == [family, waving, flag, flag]


def test_a_keycap_is_a_word_and_a_digit_is_not():
  assert emoji_words.tokenize("1\ufe0f\u20e3 1") == ["1\u20e3"]


def test_hash_signs_and_mentions_lose_their_marks():
  assert emoji_words.tokenize("#sunset @bob_1") == ["sunset", "bob"]


def test_letters_of_any_script_stay_with_their_marks():
  assert emoji_words.tokenize("Café हिन्दी") == ["café", "हिन्दी"]


def test_nothing_remains_of_digits_and_marks():
  assert emoji_words.tokenize("2015 !!! \ufe0f \u0301") == []


@hypothesis.given(st.text())
def test_words_are_lower_case_without_white_space(text):
  for word in emoji_words.tokenize(text):
    assert word and word.split() == [word] and word == word.lower()
