"""POS-SCAN: the contract, golden numbers, sentences with and without nouns."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.matchers import pos_scan, scan, scoring
from tests import matcher_harness
from tests.layers import golden

BATCH = matcher_harness.example_batch()


def golden_scores(nouns, **options):
  v, e, mask = (tf.constant(x) for x in golden.inputs())
  images = {"regions": v, "region_mask": tf.ones([2, 3], bool)}
  captions = {
    "words": e,
    "word_mask": mask,
    "noun_mask": tf.constant(np.array(nouns, bool)),
    "tokens": tf.ones([2, 4], tf.int32),
  }
  matcher = matcher_harness.small(pos_scan.POSSCANMatcher, **options)
  return matcher.similarity(images, captions).numpy()


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
@pytest.mark.parametrize("norm_scope", ["nouns", "all"])
def test_the_contract(direction, norm_scope):
  matcher_harness.check_matcher(
    lambda: matcher_harness.small(
      pos_scan.POSSCANMatcher, direction=direction, norm_scope=norm_scope
    ),
    BATCH,
  )


def test_golden_scores_with_two_nouns_and_none():
  scores = golden_scores([[0, 1, 0, 1], [0, 0, 0, 0]])
  np.testing.assert_allclose(scores.ravel(), [0.849991, 0.830384, 0.830955, 0.788261], atol=1e-6)


def test_golden_scores_with_one_noun_each():
  scores = golden_scores([[0, 1, 0, 0], [0, 1, 0, 0]])
  np.testing.assert_allclose(scores.ravel(), [0.892301, 0.775173, 0.887370, 0.838193], atol=1e-6)


def test_the_paper_normalises_over_all_words_and_averages_nouns():
  v, e, mask = golden.inputs()
  nouns = np.array([[0, 1, 0, 1], [1, 0, 0, 0]], bool)
  scores = golden_scores(nouns, norm_scope="all")
  for i in range(2):
    for c in range(2):
      words = e[c][mask[c]]
      s = words @ v[i].T
      s = np.where(s > 0, s, 0.1 * s)
      w = np.exp(9 * s / (np.sqrt((s**2).sum(0)) + 1e-8))
      contexts = (w / w.sum(1, keepdims=True)) @ v[i]
      r = (words * contexts).sum(1) / np.linalg.norm(contexts, axis=1)
      np.testing.assert_allclose(scores[i, c], r[nouns[c][mask[c]]].mean(), atol=1e-6)


def test_all_nouns_or_none_is_plain_scan():
  matcher = matcher_harness.small(pos_scan.POSSCANMatcher)
  plain = matcher_harness.small(scan.SCANMatcher)
  plain.set_weights(matcher.get_weights())
  expected = matcher_harness.similarity(plain, BATCH)
  for nouns in (BATCH["token_mask"], tf.zeros_like(BATCH["token_mask"])):
    scores = matcher_harness.similarity(matcher, {**BATCH, "noun_mask": nouns})
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_only_nouns_attend_where_there_are_any():
  attention = scoring.score_pairs(matcher_harness.small(pos_scan.POSSCANMatcher), BATCH)
  rows = attention["attention"].numpy().sum(-1) > 0
  nouns = BATCH["noun_mask"].numpy()
  for sentence in range(4):
    expected = nouns if nouns[sentence].any() else BATCH["token_mask"].numpy()
    np.testing.assert_array_equal(rows[sentence], expected[sentence])


def test_constraints_may_pick_nouns_only():
  matcher = matcher_harness.small(pos_scan.POSSCANMatcher)
  images, captions = matcher.encode_images(BATCH), matcher.encode_captions(BATCH)
  (fragments,) = matcher.fragments(images, captions)
  with_nouns = BATCH["noun_mask"].numpy().any(1)
  np.testing.assert_array_equal(
    fragments.eligible.numpy()[with_nouns], BATCH["noun_mask"].numpy()[with_nouns]
  )


def test_any_parts_of_speech_can_be_scored():
  config = pos_scan.POSSCANConfig(vocabulary_size=9, tags=("NOUN", "ADJ"))
  matcher = pos_scan.POSSCANMatcher(dataclasses.replace(config, word_size=3, joint_size=4))
  assert matcher.batch_options == {"position_blocks": False, "noun_tags": ("NOUN", "ADJ")}
  with pytest.raises(errors.UserError, match="choose from ADJ"):
    pos_scan.POSSCANConfig(vocabulary_size=9, tags=("NN",))
