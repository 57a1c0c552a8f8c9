"""Tests of gcap_tf/metrics/answers/colours.py."""

import pytest

from gcap_tf.metrics.answers import colours
from gcap_tf.text import object_words

CLASSES = object_words.ObjectClasses(["dog", "ball", "shirt", "man", "orange"])


def _words(*texts):
  return [text.split() for text in texts]


@pytest.mark.parametrize(
  ("text", "pairs"),
  [
    ("a black and white dog", {("dog", "black"), ("dog", "white")}),
    ("a man in a grey striped shirt", {("shirt", "gray")}),
    ("dogs with a red ball", {("ball", "red")}),
    ("a man in blue with a dog", set()),
    ("a shirt that is red", set()),
    ("a red and orange ball", {("ball", "red"), ("ball", "orange")}),
  ],
)
def test_a_colour_belongs_to_the_next_thing_of_its_phrase(text, pairs):
  assert colours.named(text.split(), CLASSES) == pairs


def test_colours_are_judged_where_a_reference_names_one_for_that_thing():
  captions = _words("a red ball and a black dog", "a white dog", "a blue shirt on a blue man")
  references = [
    _words("a blue ball", "the red ball"),
    _words("a black dog"),
    _words("a man with a blue shirt", "a man"),
  ]
  found = colours.score(captions, references, CLASSES)
  assert found == {"colours_named": 5, "colours_judged": 3, "colour_accuracy": pytest.approx(2 / 3)}


def test_nothing_is_right_or_wrong_if_no_reference_names_a_colour():
  found = colours.score(_words("a red ball"), [_words("a ball")], CLASSES)
  assert found == {"colours_named": 1, "colours_judged": 0}
