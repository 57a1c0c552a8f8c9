"""The tagger's loss, its batches, and that it learns."""

import random

import numpy as np
import spacy

from gcap_tf.text import tagging
from trainers.tagger import tagged, tagger_scores, tagger_training

TINY = tagger_training.TaggerConfig(width=16, depth=1, epochs=30, batch_words=12, dropout=0.0)
SENTENCES = [
  tagged.Sentence(("a", "dog", "runs"), ("DET", "NOUN", "VERB")),
  tagged.Sentence(("the", "man", "jumps"), ("DET", "NOUN", "VERB")),
  tagged.Sentence(("two", "cats", "sleep"), ("NUM", "NOUN", "VERB")),
  tagged.Sentence(("a", "red", "ball"), ("DET", "ADJ", "NOUN")),
]


def test_allowed_tags_are_one_several_or_all():
  sentence = tagged.Sentence(("x", "y", "z"), ("A", "A|C", ""))
  assert tagger_training.allowed_tags(sentence, ("A", "B", "C")).tolist() == [
    [1, 0, 0],
    [1, 0, 1],
    [1, 1, 1],
  ]


def test_the_gradient_is_that_of_the_loss_by_the_logits():
  rng = np.random.default_rng(0)
  logits = rng.normal(size=(3, 4))
  allowed = np.asarray([[1, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]], np.float64)

  def loss(x):
    p = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    return tagger_training.loss_gradient(p, allowed)

  gradient = loss(logits)[1]
  for i in range(3):
    for j in range(4):
      step = np.zeros_like(logits)
      step[i, j] = 1e-6
      slope = (loss(logits + step)[0] - loss(logits - step)[0]) / 2e-6
      assert abs(slope - gradient[i, j]) < 1e-6


def test_a_word_that_may_be_anything_gives_no_gradient():
  p = np.asarray([[0.2, 0.3, 0.5]])
  loss, gradient = tagger_training.loss_gradient(p, np.ones((1, 3)))
  assert abs(loss) < 1e-9
  assert np.abs(gradient).max() < 1e-9


def test_scrambling_keeps_prefix_suffix_and_shape():
  word = tagger_training.scrambled("Jurists-A1xyz", random.Random(0))
  assert word != "Jurists-A1xyz"
  assert (word[0], word[-3:], word[7:10]) == ("J", "xyz", "-A1")
  assert tagger_training.scrambled("dogs", random.Random(0)) == "dogs"


def test_batches_hold_every_example_once():
  examples = [(["w"] * length, index) for index, length in enumerate((3, 1, 4, 1, 5, 9, 2, 6))]
  found = list(tagger_training.batches(examples, 8, random.Random(0)))
  assert sorted(index for batch in found for _, index in batch) == list(range(8))
  assert all(sum(len(words) for words, _ in batch[:-1]) < 8 for batch in found)


def test_it_learns_saves_and_loads_without_the_training_words(tmp_path):
  weak = [tagged.Sentence(("a", "zebra"), ("", "NOUN"))] * 8
  seen = []
  pipeline = tagger_training.train(TINY, SENTENCES, weak, lambda epoch, _: seen.append(epoch))
  assert seen == list(range(30))
  tagger = tagging.Tagger("tiny", pipeline)
  assert tagger_scores.accuracy(tagger, SENTENCES) == 1.0
  assert tagger.tag([["the", "zebra"]]) == [["DET", "NOUN"]]

  clean = tagger_training.train(TINY, SENTENCES, weak)
  tagger_training.save(clean, tmp_path / "tagger")
  loaded = tagging.Tagger("loaded", spacy.load(tmp_path / "tagger"))
  assert loaded.tag([["the", "zebra"]]) == [["DET", "NOUN"]]
  assert "zebra" not in (tmp_path / "tagger/vocab/strings.json").read_text()


def test_training_is_repeatable():
  config = tagger_training.TaggerConfig(width=8, depth=1, epochs=2)
  first, second = (
    tagger_training.train(config, SENTENCES).get_pipe("tagger").model.to_bytes() for _ in range(2)
  )
  assert first == second
