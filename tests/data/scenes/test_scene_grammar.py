import types

import numpy as np
import pytest

from gcap_tf.data.scenes import scene_grammar, scene_groups, scene_words

UNIVERSAL = {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN", "NUM", "PRON", "SCONJ", "VERB"}


@pytest.fixture(scope="module")
def sentences():
  """(scene, sentence) of many captions."""
  pairs = []
  for seed in range(60):
    rng = np.random.Generator(np.random.PCG64([9, seed]))
    scene = scene_groups.compose(rng)
    writer = scene_grammar.CaptionWriter(scene, rng)
    pairs += [(scene, writer.caption()) for _ in range(8)]
  return pairs


def thing(x1, x2, depth, y1=100, y2=200):
  return types.SimpleNamespace(box_px=np.asarray([x1, y1, x2, y2], np.float32), depth=depth)


@pytest.mark.parametrize(
  ("a", "b", "words"),
  [
    (thing(100, 150, 220), thing(110, 160, 180), "in front of"),
    (thing(100, 150, 180), thing(110, 160, 220), "behind"),
    (thing(100, 150, 200), thing(160, 200, 205), "next to"),
    (thing(20, 50, 200), thing(200, 250, 200), "to the left of"),
    (thing(200, 250, 200), thing(20, 50, 200), "to the right of"),
    (thing(100, 150, 2, 20, 60), thing(110, 160, 200), "above"),
    (thing(100, 150, 2, 20, 60), thing(200, 260, 200), ""),
    (thing(110, 160, 200), thing(100, 150, 2, 20, 60), ""),
  ],
)
def test_relations_are_read_off_boxes_and_depth(a, b, words):
  assert scene_grammar.relation(a, b) == words


def test_tags_are_universal_and_one_a_word(sentences):
  for _, sentence in sentences:
    assert len(sentence.tags) == len(sentence.tokens)
    assert set(sentence.tags) <= UNIVERSAL


def test_every_sentence_has_a_noun_with_a_box_and_is_short(sentences):
  for _, sentence in sentences:
    assert sentence.mentions
    assert 3 <= len(sentence.tokens) <= 36


def test_articles_agree_with_the_next_word(sentences):
  for _, sentence in sentences:
    for article, word in zip(sentence.tokens, sentence.tokens[1:], strict=False):
      if article in ("a", "an"):
        assert (article == "an") == (word[0] in "aeiou"), (article, word)


def test_numbers_are_followed_by_plurals_of_as_many_boxes(sentences):
  plurals = {plural for forms in scene_words.NOUNS.values() for _, plural, _ in forms}
  numbers = {word: count for count, word in scene_grammar.NUMBERS.items()}
  seen = 0
  for _, sentence in sentences:
    for mention in sentence.mentions:
      if sentence.tokens[mention.start] in numbers:
        assert sentence.tokens[mention.head] in plurals
        assert len(mention.boxes_px) == numbers[sentence.tokens[mention.start]]
        seen += 1
  assert seen > 10


def test_colours_said_are_those_of_the_object(sentences):
  spelled = {"grey": "gray"}
  checked = 0
  for scene, sentence in sentences:
    for mention in sentence.mentions:
      if not mention.entity.isdigit():
        continue
      entity = scene.entities[int(mention.entity)]
      for word in sentence.tokens[mention.start : mention.head]:
        if word in ("red", "blue", "brown", "black", "white", "yellow", "gray", "grey"):
          assert spelled.get(word, word) == entity.color
          checked += 1
  assert checked > 50


def test_holding_and_riding_are_said_only_of_those_who_do(sentences):
  for scene, sentence in sentences:
    doing = {fact.verb for fact in scene.facts}
    if {"holds", "holding", "carries", "carrying"} & set(sentence.tokens):
      assert "hold" in doing
    if {"rides", "riding"} & set(sentence.tokens):
      assert "ride" in doing
    if {"kicks", "kicking"} & set(sentence.tokens):
      assert "kick" in doing


def test_sentences_take_many_forms(sentences):
  openings = {sentence.tags[0] for _, sentence in sentences}
  assert {"DET", "PRON", "ADP", "NUM"} <= openings
  words = {word for _, sentence in sentences for word in sentence.tokens}
  assert {"while", "and", "with", "wearing", "next", "behind", "there"} <= words


def test_an_empty_scene_has_a_caption_too():
  rng = np.random.Generator(np.random.PCG64(1))
  scene = scene_groups.compose(rng)
  for entity in scene.entities:
    entity.box_px = None
  sentence = scene_grammar.CaptionWriter(scene, rng).caption()
  assert sentence.tokens[:3] == ["there", "is", "an"]
  assert sentence.mentions[0].kind == "scene"
