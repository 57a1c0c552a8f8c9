"""Draws of queries and their negatives."""

import numpy as np
import tensorflow as tf

from gcap_tf.losses import query_sampling


def test_draws_are_eligible_and_uniform():
  eligible = tf.constant([[False, True, True, False, True]] * 6000)
  position, found = query_sampling.sample(eligible, tf.constant([3, 4]))
  shares = np.bincount(position.numpy(), minlength=5) / 6000
  assert found.numpy().all()
  assert shares[0] == shares[3] == 0
  np.testing.assert_allclose(shares[[1, 2, 4]], 1 / 3, atol=0.03)


def test_a_row_without_eligible_positions_says_so():
  _, found = query_sampling.sample(tf.constant([[False, False], [True, False]]), [0, 0])
  np.testing.assert_array_equal(found, [False, True])


def test_equal_seeds_draw_equally_and_others_differently():
  eligible = tf.ones([50, 9], bool)
  first = query_sampling.sample(eligible, [1, 1])[0].numpy()
  np.testing.assert_array_equal(first, query_sampling.sample(eligible, [1, 1])[0])
  assert (first != query_sampling.sample(eligible, [1, 2])[0].numpy()).any()


def test_negatives_exclude_the_query_and_the_same_word():
  eligible = tf.constant([[False, True, True, True, True]])
  ids = tf.constant([[1, 5, 6, 5, 7]])
  np.testing.assert_array_equal(
    query_sampling.others(eligible, ids, tf.constant([1])), [[False, False, True, False, True]]
  )
  no_ids = tf.constant([[-1] * 5])
  np.testing.assert_array_equal(
    query_sampling.others(eligible, no_ids, tf.constant([1])), [[False, False, True, True, True]]
  )
