"""Helpers of the matcher contract."""

import numpy as np
import tensorflow as tf

from gcap_tf.matchers import base


def test_take_gathers_every_tensor_along_its_first_axis():
  encoded = {"regions": tf.reshape(tf.range(6), [3, 2]), "region_mask": tf.constant([1, 2, 3])}
  taken = base.take(encoded, tf.constant([2, 0, 2]))
  np.testing.assert_array_equal(taken["regions"], [[4, 5], [0, 1], [4, 5]])
  np.testing.assert_array_equal(taken["region_mask"], [3, 1, 3])
