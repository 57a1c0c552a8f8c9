"""Tests of gcap_tf/text/colour_words.py."""

from gcap_tf.text import colour_words


def test_a_colour_has_one_spelling():
  assert [colour_words.of(word) for word in ("gray", "grey", "red")] == ["gray", "gray", "red"]
  assert colour_words.of("plaid") is None
