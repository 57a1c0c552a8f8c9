"""Contrastive Content Re-sourcing (Chen et al., More Than Just Attention, WACV 2023).

A query must be closer to the keys that it attends to than to the others:

    w^_ij = (1 - w_ij) / sum_j (1 - w_ij),   a^_i = sum_j w^_ij k_j        (Eq. 5)
    l_CCR = [Sim(q_i, a^_i) - Sim(q_i, a_i) + gamma_2]+                    (Eq. 6)

Sim is the cosine. With u = 1 - w, the affinities s_j = q . k_j and the Gram matrix G of the
keys, Sim(q, a^) = u . s / (|q| sqrt(u^T G u)): the sum in Eq. 5 cancels.
"""

from typing import Literal

import tensorflow as tf

from gcap_tf.layers import cross_attention, masking, normalize
from gcap_tf.losses import query_sampling

Queries = Literal["one", "all"]


def loss(
  fragments: cross_attention.AttendedFragments,
  margin: float,
  seed: tf.Tensor,
  queries: Queries = "one",
) -> tf.Tensor:
  """l_CCR, added over matched pairs as the ranking loss is.

  Args:
    fragments: one direction of attention.
    margin: gamma_2.
    seed: int32 [2], draws the query of each pair.
    queries: one random query of each pair, or the mean over all its eligible queries.

  Returns:
    Scalar. A pair without an eligible query, or with a single key, adds 0.
  """
  real_keys = tf.reduce_sum(tf.cast(fragments.key_mask, tf.int32), 1)
  hinges = hinge(fragments, margin)  # [B, M]
  if queries == "all":
    values, usable = masking.masked_mean(hinges, fragments.eligible), real_keys > 1
  else:
    position, found = query_sampling.sample(fragments.eligible, seed)
    values, usable = tf.gather(hinges, position, batch_dims=1), found & (real_keys > 1)
  return tf.reduce_sum(tf.where(usable, values, tf.zeros_like(values)))


def hinge(fragments: cross_attention.AttendedFragments, margin: float) -> tf.Tensor:
  """Eq. 6 of every query: [B, M]."""
  attended = similarity(fragments, fragments.weights)
  return tf.nn.relu(similarity(fragments, reversed_weights(fragments)) - attended + margin)


def reversed_weights(fragments: cross_attention.AttendedFragments) -> tf.Tensor:
  """u = 1 - w on real keys: w^ of Eq. 5 times n - 1, [B, M, N]."""
  return (1 - fragments.weights) * tf.cast(fragments.key_mask, fragments.weights.dtype)[:, None]


def similarity(fragments: cross_attention.AttendedFragments, weights: tf.Tensor) -> tf.Tensor:
  """Sim(q_i, sum_j weights_ij k_j) of every query: [B, M]."""
  dot = tf.reduce_sum(weights * fragments.affinities, -1)
  square = tf.reduce_sum(weights * tf.matmul(weights, fragments.key_gram), -1)
  return normalize.cosine_of_products(dot, fragments.query_square, square)
