import numpy as np
import tensorflow as tf

from gcap_tf.decoding import grounding

BOXES = tf.constant([[[0.0, 0.1, 0.3, 0.4], [0.2, 0.0, 0.5, 0.3], [0.6, 0.6, 0.9, 0.8]]])


def test_box_encloses_the_picks_of_the_winners_only():
  attention = tf.constant([[[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.0, 0.1, 0.9]]]])
  winners = tf.constant([[[True, True, False]]])
  index, box = grounding.word_boxes(attention, winners, BOXES)
  assert index.numpy().tolist() == [[0]]
  np.testing.assert_allclose(box[0, 0], [0.0, 0.0, 0.5, 0.4])


def test_index_is_that_of_the_first_winner():
  attention = tf.constant([[[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.0, 0.1, 0.9]]]])
  winners = tf.constant([[[False, False, True]]])
  index, box = grounding.word_boxes(attention, winners, BOXES)
  assert index.numpy().tolist() == [[2]]
  np.testing.assert_allclose(box[0, 0], BOXES[0, 2])


def test_first_of_regions_that_differ_by_rounding_wins():
  third = 1 / 3
  attention = tf.constant(
    [[third, third, third], [third, third + 1e-7, third], [0.3, 0.3003, 0.3], [0.0, 0.0, 0.0]]
  )
  assert grounding.strongest_region(attention).numpy().tolist() == [0, 0, 1, 0]


def test_branch_mean_averages_the_winning_branches():
  attention = np.array([[[[0.2, 0.8], [0.6, 0.4], [1.0, 0.0]]]], np.float32)
  winners = np.array([[[True, True, False]]])
  mean = grounding.branch_mean(tf.constant(attention), tf.constant(winners))
  np.testing.assert_allclose(mean, [[[0.4, 0.6]]], rtol=1e-6)


def test_overlap_is_that_of_every_pair():
  boxes = tf.constant([[[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 1.0, 0.5], [0.0, 0.0, 0.0, 0.0]]])
  found = grounding.iou(boxes, boxes[:, :2]).numpy()
  np.testing.assert_allclose(found, [[[1.0, 0.5], [0.5, 1.0], [0.0, 0.0]]])
