import numpy as np
import tensorflow as tf

from gcap_tf.decoding import constraints, outputs


def test_steps_are_padded_with_zeros_and_turned_batch_major():
  x = tf.constant(np.arange(12).reshape(2, 3, 2))
  padded = outputs.pad_steps(x, 4)
  assert padded.shape == (3, 4, 2)
  np.testing.assert_array_equal(padded[1, :2], [[2, 3], [8, 9]])
  assert not padded[:, 2:].numpy().any()


def test_a_step_without_branches_counts_as_one_branch_that_wins():
  emitted = {"logits": tf.constant([[0.0, 1.0], [2.0, 0.0]])}
  assert outputs.branch_logits(emitted).shape == (2, 1, 2)
  assert outputs.winners(
    emitted, tf.constant([0, 0]), constraints.Constraint()
  ).numpy().tolist() == [[True], [True]]


def test_what_lies_after_the_words_is_blank():
  tokens = tf.constant([[3, 0]])
  decoded = outputs.assemble(
    tokens,
    tf.constant([[-1.0, -0.5]]),
    tf.ones([1, 2, 1, 2]) / 2,
    tf.ones([1, 2, 1], tf.bool),
    tf.constant([[[0.1, 0.1, 0.2, 0.2], [0.3, 0.3, 0.4, 0.4]]]),
  )
  assert decoded["box_index"].numpy().tolist() == [[0, -1]]
  assert decoded["winners"].numpy().tolist() == [[[True], [False]]]
  np.testing.assert_allclose(decoded["attention"][0, 1], [[0.0, 0.0]])
  assert float(decoded["log_prob"][0]) == -1.5 and int(decoded["length"][0]) == 1
