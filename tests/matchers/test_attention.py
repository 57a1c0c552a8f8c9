"""What matchers with attention share: directions and what constraints may pick."""

import numpy as np
import tensorflow as tf

from gcap_tf.matchers import bfan, scan
from tests import matcher_harness

BATCH = matcher_harness.example_batch()


def fragments_of(matcher):
  return matcher.fragments(matcher.encode_images(BATCH), matcher.encode_captions(BATCH))


def test_constraints_never_pick_start_end_or_padding():
  (fragments,) = fragments_of(matcher_harness.small(scan.SCANMatcher))
  tokens = BATCH["tokens"].numpy()
  np.testing.assert_array_equal(fragments.eligible, tokens > 3)
  np.testing.assert_array_equal(fragments.query_ids, tokens)


def test_both_directions_of_a_model_give_fragments():
  words, regions = fragments_of(matcher_harness.small(bfan.BFANMatcher))
  assert words.weights.shape == (4, 7, 6)
  assert regions.weights.shape == (4, 6, 7)
  np.testing.assert_array_equal(regions.eligible, BATCH["region_mask"])
  assert (regions.query_ids.numpy() == -1).all()


def test_gradients_of_fragments_reach_both_encoders():
  matcher = matcher_harness.small(scan.SCANMatcher)
  with tf.GradientTape() as tape:
    (fragments,) = fragments_of(matcher)
    value = tf.reduce_sum(fragments.weights**2)
  for gradient in tape.gradient(value, matcher.trainable_variables):
    assert np.abs(tf.convert_to_tensor(gradient)).max() > 0
