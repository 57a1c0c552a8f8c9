"""Tests of gcap_tf/rewards/matcher_score.py."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.matchers import catalog
from gcap_tf.rewards import matcher_score
from gcap_tf.text import tagging
from gcap_tf.text import vocabulary as vocabularies

VOCABULARY = vocabularies.Vocabulary("captioner", ("", "dog", "a", "runs", "hat", "UNK"))
WORDS = vocabularies.Vocabulary(
  "matcher", ("<pad>", "<start>", "<end>", "<unk>", "hat", "a", "dog", ".")
)
NOUNS = np.array([False, True, False, False, True, True])
TOKENS = tf.constant([[2, 1, 3, 0, 0], [2, 4, 0, 0, 0], [0, 0, 0, 0, 0], [5, 1, 4, 1, 2]])


def make_matcher(name="pos_scan", **options):
  keras.utils.set_random_seed(1)
  cls = catalog.MATCHERS.get(name)
  sizes = {"vocabulary_size": WORDS.size, "feature_size": 5, "joint_size": 6, "word_size": 4}
  return cls(cls.Config(**sizes, **options))


def make_score(name="pos_scan", **options):
  return matcher_score.MatcherScore(make_matcher(name), WORDS, VOCABULARY, NOUNS, **options)


def pictures(count=2):
  rng = np.random.default_rng(0)
  return {
    "features": tf.constant(rng.normal(size=(count, 3, 5)), tf.float32),
    "region_mask": tf.ones([count, 3], tf.bool),
    "boxes": tf.zeros([count, 3, 4]),
  }


def test_words_are_wrapped_and_keep_their_names():
  read = make_score().captions(TOKENS)
  expected = [
    [1, 5, 6, 3, 2, 0, 0],  # "runs" is unknown to the matcher
    [1, 5, 4, 2, 0, 0, 0],
    [1, 2, 0, 0, 0, 0, 0],
    [1, 3, 6, 4, 6, 5, 2],
  ]
  np.testing.assert_array_equal(read["tokens"], expected)
  np.testing.assert_array_equal(read["token_mask"], np.array(expected) > 0)
  nouns = np.zeros([4, 7], bool)
  nouns[0, 2] = nouns[1, 2] = nouns[3, 2] = nouns[3, 3] = nouns[3, 4] = True  # UNK is no noun
  np.testing.assert_array_equal(read["noun_mask"], nouns)


def test_a_final_period_stands_before_the_end():
  read = make_score(final_period=True).captions(TOKENS)
  np.testing.assert_array_equal(read["tokens"][1], [1, 5, 4, 7, 2, 0, 0, 0])
  np.testing.assert_array_equal(read["tokens"][3], [1, 3, 6, 4, 6, 5, 7, 2])
  assert read["noun_mask"].shape == read["token_mask"].shape == (4, 8)


@pytest.mark.parametrize("final_period", [False, True])
def test_scores_and_attention_are_those_of_each_caption_alone(final_period):
  scorer = make_score(final_period=final_period)
  owners = [0, 1, 1, 0]
  images = scorer.matcher.encode_images(pictures())
  captions = scorer.matcher.encode_captions(scorer.captions(TOKENS))
  found = scorer.score(images, captions, tf.constant(owners))
  attention = scorer.attention(images, captions, tf.constant(owners))
  assert attention.shape == (4, 5, 3)
  for row, owner in enumerate(owners):
    length = int(np.sum(TOKENS[row] > 0))
    alone = scorer.captions(TOKENS[row : row + 1, :length])
    one = {name: tensor[owner : owner + 1] for name, tensor in images.items()}
    encoded = scorer.matcher.encode_captions(alone)
    np.testing.assert_allclose(found[row], scorer.matcher.similarity(one, encoded)[0, 0], atol=1e-5)
    expected = scorer.matcher.attention(one, encoded)[0, 1 : length + 1]
    np.testing.assert_allclose(attention[row, :length], expected, atol=1e-5)


def test_the_tagger_finds_nouns_in_their_sentence():
  scorer = make_score(tagger=tagging.load_tagger("shipped"))
  nouns = scorer.noun_mask(TOKENS).numpy()
  np.testing.assert_array_equal(nouns[0], [False, True, False, False, False])
  np.testing.assert_array_equal(nouns[1], [False, True, False, False, False])
  assert not nouns[2].any() and not nouns[3, 0]


def test_the_tagger_finds_the_parts_of_speech_that_the_matcher_scores():
  tagger = tagging.load_tagger("shipped")
  for tags, expected in ((("NOUN", "PROPN"), [0, 1, 0]), (("NOUN", "VERB"), [0, 1, 1])):
    matcher = make_matcher(tags=tags)
    scorer = matcher_score.MatcherScore(matcher, WORDS, VOCABULARY, NOUNS, tagger)
    assert scorer.noun_mask(TOKENS).numpy()[0, :3].tolist() == [bool(n) for n in expected]
  assert matcher_score.scored_tags(make_matcher("scan")) == tagging.NOUN_TAGS


def test_a_matcher_of_other_words_is_refused():
  stranger = vocabularies.Vocabulary("matcher", (*vocabularies.MATCHER_SPECIALS, "hund", "dog"))
  with pytest.raises(errors.UserError, match="runs/x knows 1 of the captioner's 4 words"):
    matcher_score.translation(stranger, VOCABULARY, "matcher runs/x")
  with pytest.raises(errors.UserError, match="captioner's vocabulary"):
    matcher_score.translation(VOCABULARY, VOCABULARY, "matcher runs/x")


def test_a_captioner_may_know_many_more_words_than_the_matcher():
  more = tuple(f"word{n}" for n in range(20))
  captioner = vocabularies.Vocabulary("captioner", (*VOCABULARY.words[:-1], *more, "UNK"))
  table = matcher_score.translation(WORDS, captioner, "matcher runs/x")
  assert [table[captioner.ids[word]] for word in more] == [WORDS.unknown_id] * len(more)
