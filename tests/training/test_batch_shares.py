"""Tests of gcap_tf/training/batch_shares.py; what replicas do with it is in test_replicas.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import batch_shares

BATCH = {
  "features": tf.reshape(tf.range(4 * 3), [4, 3]),
  "tokens": tf.reshape(tf.range(8 * 2), [8, 2]),
  "image_id": tf.constant(["a", "b", "c", "d"]),
}


def batches(start, worker=(0, 1)):
  assert worker == (0, 1)
  return tf.data.Dataset.range(start, 100).map(lambda n: BATCH | {"step": tf.fill([4], n)})


def test_one_device_is_given_whole_batches_from_the_step_on():
  stream = batch_shares.iterate(batches, 5, tf.distribute.get_strategy())
  assert next(stream)["step"].numpy().tolist() == [5] * 4
  assert next(stream)["step"].numpy().tolist() == [6] * 4


def test_pictures_and_their_captions_are_cut_alike():
  first, second = tf.data.Dataset.from_tensors(BATCH).flat_map(lambda b: batch_shares.cut(b, 2))
  np.testing.assert_array_equal(first["image_id"], [b"a", b"b"])
  np.testing.assert_array_equal(second["tokens"], BATCH["tokens"][4:])
  assert first["tokens"].shape == [4, 2] and second["features"].shape == [2, 3]


def test_a_batch_that_cannot_be_cut_equally_is_refused():
  with pytest.raises(errors.UserError, match=r"4 rows of .* cannot be cut into 3 equal parts"):
    batch_shares.iterate(batches, 0, tf.distribute.get_strategy(), accumulate=3)
