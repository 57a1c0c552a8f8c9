"""Self-critical sequence training (Rennie et al., CVPR 2017, arXiv:1612.00563).

    L = - Σ_{b,t} m_{b,t} (r(y^s_b) - b_b) ln p(y^s_{b,t}) / Σ m        (POS-SCAN, Eq. 17, 18)

y^s are captions sampled from the captioner, r is their reward, m is 1 on their words and
their end: L is a mean over all sampled words of the batch. The baseline b_b is the reward of
the greedy caption of the same picture, or the mean reward of the picture's other samples
(Luo, arXiv:2003.09971).
"""

from typing import Literal

import tensorflow as tf

Baseline = Literal["greedy", "mean_of_others"]


def advantages(rewards: tf.Tensor, greedy: tf.Tensor) -> tf.Tensor:
  """r(y^s) - r(ŷ): rewards of samples [I * n], picture-major, and of greedy captions [I]."""
  return rewards - tf.repeat(greedy, tf.shape(rewards)[0] // tf.shape(greedy)[0])


def advantages_over_others(rewards: tf.Tensor, samples: int) -> tf.Tensor:
  """r(y^s_k) - mean of the picture's other rewards: [I * n] -> [I * n], n = `samples` > 1."""
  of_picture = tf.reshape(rewards, [-1, samples])
  others = tf.reduce_sum(of_picture, 1, keepdims=True) - of_picture
  return tf.reshape(of_picture - others / (samples - 1.0), [-1])


def policy_loss(log_probs: tf.Tensor, advantages: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
  """L, with a gradient for `log_probs` only.

  Args:
    log_probs: ln p of the counted words, packed: [n].
    advantages: r - b, [B].
    mask: m, bool [B, T], the n words that count.

  Returns:
    Scalar float32; 0 if no word counts.
  """
  spread = tf.broadcast_to(tf.stop_gradient(advantages)[:, tf.newaxis], tf.shape(mask))
  weights = tf.boolean_mask(spread, mask)
  count = tf.cast(tf.size(log_probs), tf.float32)
  return -tf.math.divide_no_nan(tf.reduce_sum(weights * log_probs), count)
