"""Scores and attention of matched pairs, with several captions a picture."""

import numpy as np
import tensorflow as tf

from gcap_tf.matchers import scan, scoring, vsepp
from tests import matcher_harness

BATCH = matcher_harness.example_batch()


def two_captions_a_picture():
  pictures = {
    name: BATCH[name][:2] for name in ("features", "boxes", "region_mask", "global_feature")
  }
  return {**BATCH, **pictures}


def test_captions_are_scored_on_their_own_picture():
  matcher = matcher_harness.small(scan.SCANMatcher)
  batch = two_captions_a_picture()
  every = matcher_harness.similarity(matcher, batch)
  scores = scoring.score_pairs(matcher, batch)
  np.testing.assert_allclose(scores["similarity"], every[[0, 0, 1, 1], [0, 1, 2, 3]], atol=1e-6)
  repeated = {**batch}
  for name in ("features", "boxes", "region_mask"):
    repeated[name] = tf.repeat(batch[name], 2, axis=0)
  np.testing.assert_allclose(
    scores["attention"], scoring.score_pairs(matcher, repeated)["attention"], atol=1e-6
  )


def test_a_matcher_without_attention_gives_scores_alone():
  scores = scoring.score_pairs(matcher_harness.small(vsepp.VSEPPMatcher), BATCH)
  assert set(scores) == {"similarity"}
