"""Tests of gcap_tf/decoding/pointing.py."""

import numpy as np
import tensorflow as tf

from gcap_tf.decoding import pointing

# Words: 0 ends, 1 "a", 2 "dog", 3 "dogs", 4 "cat". Labels: dog, cat, in columns 1 and 2.
RULES = pointing.Pointing((-1, -1, 0, 0, 1), (3,), (1, 3), 3, share=0.3)
BOXES = tf.constant([[[0.1, 0.1, 0.4, 0.4], [0.5, 0.3, 0.9, 0.8], [0.0, 0.0, 1.0, 1.0]]])


def picture(labels, scores, mask=(True, True, True)):
  """A batch of one picture of three regions with the given probabilities and objectness."""
  features = np.concatenate([np.ones([3, 1]), 4 * np.sqrt(labels), 4 * np.c_[scores]], 1)
  return {
    "features": tf.constant(features[np.newaxis], tf.float32),
    "region_mask": tf.constant([mask]),
  }


def test_evidence_is_the_product_of_attention_label_and_objectness():
  labels, scores = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), np.array([0.5, 0.6, 0.1])
  attention = np.array([[0.2, 0.7, 0.1], [0.2, 0.7, 0.1], [0.2, 0.7, 0.1]])
  tokens = tf.constant([[1, 2, 4]])
  alpha = tf.constant(attention[np.newaxis], tf.float32)
  found = pointing.evidence(RULES, picture(labels, scores), tokens, alpha).numpy()[0]
  np.testing.assert_allclose(found[0], attention[0], rtol=1e-6)  # "a" names no label.
  for word, label in ((1, 0), (2, 1)):
    joint = np.sqrt(attention[word]) * labels[:, label] * scores
    np.testing.assert_allclose(found[word], joint / joint.sum(), atol=2e-3)


def test_padding_gets_no_evidence():
  labels, scores = np.full([3, 2], 0.5), np.array([0.1, 0.1, 0.9])
  batch = picture(labels, scores, mask=(True, True, False))
  found = pointing.evidence(RULES, batch, tf.constant([[2]]), tf.constant([[[0.6, 0.4, 0.0]]]))
  assert found.numpy()[0, 0, 2] == 0 and found.numpy()[0, 0].argmax() == 0
  np.testing.assert_allclose(found.numpy().sum(), 1.0, rtol=1e-6)


def test_a_word_points_at_the_strongest_region_and_a_plural_at_all_it_names():
  pointed = tf.constant([[[0.5, 0.4, 0.1], [0.5, 0.4, 0.1], [0.5, 0.1, 0.4]]])
  index, box = pointing.boxes(RULES, tf.constant([[2, 3, 4]]), pointed, BOXES)
  assert index.numpy().tolist() == [[0, 0, 0]]
  np.testing.assert_allclose(box[0, 0], BOXES[0, 0])
  np.testing.assert_allclose(box[0, 1], [0.1, 0.1, 0.9, 0.8])
  np.testing.assert_allclose(box[0, 2], BOXES[0, 0])


def test_a_picture_without_regions_keeps_a_box_of_its_own():
  nothing = picture(np.zeros([3, 2]), np.zeros(3), mask=(False, False, False))
  tokens = tf.constant([[3]])
  pointed = pointing.evidence(RULES, nothing, tokens, tf.zeros([1, 1, 3]))
  index, box = pointing.boxes(RULES, tokens, pointed, BOXES)
  assert index.numpy().tolist() == [[0]]
  np.testing.assert_allclose(box[0, 0], BOXES[0, 0])


NAMED = pointing.Pointing((-1, -1, 0, 0, 1), (3,), region_labels=(-1, 0, 1, 0), area_power=0.25)


def test_a_word_points_among_the_regions_of_its_label():
  batch = {"region_labels": tf.constant([[1, 3, 2]]), "region_mask": tf.ones([1, 3], tf.bool)}
  alpha = np.array([0.12, 0.1, 0.78])
  attention = tf.constant(np.broadcast_to(alpha, [1, 3, 3]), tf.float32)
  found = pointing.evidence(NAMED, batch | {"boxes": BOXES}, tf.constant([[1, 2, 4]]), attention)
  np.testing.assert_allclose(found[0, 0], alpha, rtol=1e-6)  # "a" names no label.
  joint = np.sqrt(alpha) * [1, 1, 0] * np.array([0.09, 0.2, 1.0]) ** 0.25
  np.testing.assert_allclose(found[0, 1], joint / joint.sum(), atol=2e-3)
  assert found[0, 1].numpy().argmax() == 1, "the larger of two dogs"
  np.testing.assert_allclose(found[0, 2], [0, 0, 1], atol=2e-3)


def test_a_word_whose_label_no_region_has_keeps_its_attention():
  batch = {
    "region_labels": tf.constant([[1, 0, 2]]),
    "region_mask": tf.constant([[True, True, False]]),
  }
  attention = tf.constant([[[0.4, 0.6, 0.0]]])
  found = pointing.evidence(NAMED, batch | {"boxes": BOXES}, tf.constant([[4]]), attention)
  np.testing.assert_allclose(found, attention, rtol=1e-6)
