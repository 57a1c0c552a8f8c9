"""Tests of gcap_tf/layers/dropout.py."""

import numpy as np
import tensorflow as tf

from gcap_tf.layers import dropout

X = tf.ones([200, 100])
SEED = tf.constant([1, 2])


def test_without_a_seed_or_a_rate_it_is_the_identity():
  assert dropout.dropout(X, 0.5, None, 1) is X
  assert dropout.dropout(X, 0.0, SEED, 1) is X


def test_kept_entries_are_scaled_so_that_the_mean_stays():
  y = dropout.dropout(X, 0.25, SEED, 1).numpy()
  assert set(np.unique(y)) == {np.float32(0.0), np.float32(1 / 0.75)}
  assert abs(y.mean() - 1.0) < 0.02


def test_a_seed_repeats_and_another_salt_or_seed_differs():
  first = dropout.dropout(X, 0.5, SEED, 1).numpy()
  np.testing.assert_array_equal(first, dropout.dropout(X, 0.5, SEED, 1).numpy())
  assert (first != dropout.dropout(X, 0.5, SEED, 2).numpy()).any()
  assert (first != dropout.dropout(X, 0.5, tf.constant([1, 3]), 1).numpy()).any()
