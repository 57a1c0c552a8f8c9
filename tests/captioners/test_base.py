import numpy as np
import tensorflow as tf

from gcap_tf.captioners import base


def test_repeat_keeps_the_copies_of_a_picture_together():
  memory = {"regions": tf.constant([[1.0], [2.0]]), "mask": tf.constant([True, False])}
  repeated = base.repeat(memory, 2)
  np.testing.assert_array_equal(repeated["regions"], [[1.0], [1.0], [2.0], [2.0]])
  np.testing.assert_array_equal(repeated["mask"], [True, True, False, False])
