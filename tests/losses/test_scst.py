"""Tests of gcap_tf/losses/scst.py."""

import numpy as np
import tensorflow as tf

from gcap_tf.losses import scst

RNG = np.random.default_rng(0)


def test_the_loss_is_the_mean_over_words_of_minus_advantage_times_log_probability():
  mask = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 1, 0]], bool)
  log_probs = -RNG.uniform(0.1, 3.0, mask.shape)
  advantages = RNG.normal(size=4)
  total = 0.0
  for b in range(4):
    for t in range(3):
      if mask[b, t]:
        total -= advantages[b] * log_probs[b, t]
  packed = tf.constant(log_probs[mask], tf.float32)
  found = scst.policy_loss(packed, tf.constant(advantages, tf.float32), tf.constant(mask))
  np.testing.assert_allclose(found, total / mask.sum(), rtol=1e-6)


def test_no_gradient_reaches_the_rewards():
  rewards, greedy = tf.Variable([1.0, 2.0, 3.0, 4.0]), tf.Variable([2.0, 2.0])
  log_probs = tf.Variable([-1.0, -2.0, -3.0, -4.0])
  with tf.GradientTape() as tape:
    loss = scst.policy_loss(log_probs, scst.advantages(rewards, greedy), tf.ones([4, 1], tf.bool))
  of_rewards, of_greedy, of_words = tape.gradient(loss, [rewards, greedy, log_probs])
  assert of_rewards is None and of_greedy is None
  # -(r - b) / 4 for advantages -1, 0, 1, 2
  np.testing.assert_allclose(of_words, [0.25, 0.0, -0.25, -0.5])


def test_each_sample_is_compared_with_the_greedy_caption_of_its_picture():
  found = scst.advantages(tf.constant([1.0, 2.0, 5.0, 7.0]), tf.constant([1.0, 4.0]))
  np.testing.assert_allclose(found, [0, 1, 1, 3])


def test_leave_one_out_compares_with_the_mean_of_the_other_samples():
  rewards = RNG.normal(size=[2, 3]).astype(np.float32)
  expected = [
    rewards[i, k] - np.mean([rewards[i, j] for j in range(3) if j != k])
    for i in range(2)
    for k in range(3)
  ]
  found = scst.advantages_over_others(tf.constant(rewards.reshape(-1)), 3)
  np.testing.assert_allclose(found, expected, atol=1e-6)
  np.testing.assert_allclose(np.sum(found), 0.0, atol=1e-6)


def test_no_words_make_no_loss():
  loss = scst.policy_loss(tf.zeros([0]), tf.zeros([2]), tf.zeros([2, 3], tf.bool))
  assert float(loss) == 0.0
