"""The ranking loss: by hand, sparse against dense, across replicas, by finite differences."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.losses import ranking

S = np.array([[0.5, 0.45, 0.1], [0.2, 0.6, 0.55], [0.7, 0.3, 0.4]])
OWN = tf.constant([0, 1, 2])


def test_hand_computed_values():
  # Rows: .15 + .15 + .5; columns: .4 + .05 + .35; together 1.6. The sum adds one .1 more.
  hardest = ranking.triplet(tf.constant(S), OWN, 0.2, "hardest")
  np.testing.assert_allclose(hardest, 1.6, atol=1e-12)
  np.testing.assert_allclose(ranking.triplet(tf.constant(S), OWN, 0.2, "sum"), 1.7, atol=1e-12)


def loop(s, own, margin, hardest):
  total = 0.0
  for c in range(s.shape[1]):
    i = own[c]
    captions = [max(0, margin + s[i, d] - s[i, c]) for d in range(s.shape[1]) if own[d] != i]
    images = [max(0, margin + s[j, c] - s[i, c]) for j in range(s.shape[0]) if j != i]
    pick = max if hardest else sum
    total += pick(captions) + pick(images)
  return total


@pytest.mark.parametrize("negatives", ["hardest", "sum"])
def test_several_captions_of_a_picture_are_no_negatives_of_each_other(negatives):
  random = np.random.default_rng(0)
  s, own = random.normal(size=(3, 6)), np.repeat([0, 1, 2], 2)
  actual = ranking.triplet(tf.constant(s), tf.constant(own, tf.int32), 0.3, negatives)
  np.testing.assert_allclose(actual, loop(s, own, 0.3, negatives == "hardest"), rtol=1e-12)


@pytest.mark.parametrize("negatives", ["hardest", "sum"])
def test_gradient_equals_finite_differences(negatives):
  s = tf.constant(np.random.default_rng(1).normal(size=(4, 4)))
  theory, numeric = tf.test.compute_gradient(
    lambda x: ranking.triplet(x, tf.range(4), 0.5, negatives), [s], delta=1e-6
  )
  np.testing.assert_allclose(theory[0], numeric[0], atol=1e-7)


def test_sparse_scores_give_the_dense_loss_and_gradient():
  s = tf.constant(np.random.default_rng(2).normal(size=(5, 5)))
  own = tf.range(5)
  with tf.GradientTape(persistent=True) as tape:
    tape.watch(s)
    dense = ranking.triplet(s, own, 0.2)
    captions, images = ranking.hard_negatives(s, own)
    some_caption, some_image = ranking.has_negatives(ranking.own_pairs(s, own), own)
    pick = lambda i, c: tf.gather_nd(s, tf.stack([i, c], 1))  # noqa: E731
    matched = pick(own, tf.range(5))
    sparse = ranking.hinge(matched, pick(own, captions), 0.2, some_caption) + ranking.hinge(
      matched, pick(images, tf.range(5)), 0.2, some_image
    )
  np.testing.assert_allclose(sparse, dense, rtol=1e-12)
  np.testing.assert_allclose(tape.gradient(sparse, s), tape.gradient(dense, s), atol=1e-12)


def test_replicas_shares_add_up_to_the_loss_of_the_whole():
  s = tf.constant(np.random.default_rng(3).normal(size=(4, 4)))
  whole = ranking.triplet(s, tf.range(4))
  halves = [
    ranking.triplet(s, tf.range(4), anchors=tf.constant(a))
    for a in ([True, True, False, False], [False, False, True, True])
  ]
  np.testing.assert_allclose(halves[0] + halves[1], whole, rtol=1e-12)


def test_more_positives_take_false_negatives_out():
  positives = np.eye(3, dtype=bool)
  positives[2, 0] = True  # Caption 0 also fits picture 2.
  actual = ranking.triplet(tf.constant(S), OWN, 0.2, positives=tf.constant(positives))
  # Row 2 now has .3 as hardest (.1 instead of .5), column 0 has none above (.0 instead of .4).
  np.testing.assert_allclose(actual, 1.6 - 0.4 - 0.4, atol=1e-12)


def test_a_single_picture_has_no_loss():
  assert ranking.triplet(tf.constant([[0.3]]), tf.constant([0])) == 0
  some_caption, some_image = ranking.has_negatives(tf.constant([[True]]), tf.constant([0]))
  assert not some_caption[0]
  assert not some_image[0]
