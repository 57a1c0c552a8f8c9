"""Contrastive Content Swapping (Chen et al., More Than Just Attention, WACV 2023).

The attended keys of a query must be closer to this query than to another query q~ of the
same sentence (words) or picture (regions):

    l_CCS = [Sim(q~_i, a_i) - Sim(q_i, a_i) + gamma_3]+                    (Eq. 7)

Sim is the cosine; q~_i . a_i = sum_j w_ij s~_j, in which s~ are the affinities of q~_i.
"""

import tensorflow as tf

from gcap_tf.layers import cross_attention, dropout, masking, normalize
from gcap_tf.losses import ccr, query_sampling

NEGATIVE_SALT = 301


def loss(
  fragments: cross_attention.AttendedFragments,
  margin: float,
  seed: tf.Tensor,
  queries: ccr.Queries = "one",
) -> tf.Tensor:
  """l_CCS, added over matched pairs as the ranking loss is.

  Args:
    fragments: one direction of attention.
    margin: gamma_3.
    seed: int32 [2], draws the query of each pair (the same as CCR's) and its negative.
    queries: one random query and negative of each pair, or the mean over all of them.

  Returns:
    Scalar. A query without a negative adds 0; another occurrence of the same word is not
    a negative.
  """
  if queries == "all":
    return _all_queries(fragments, margin)
  position, found = query_sampling.sample(fragments.eligible, seed)
  candidates = query_sampling.others(fragments.eligible, fragments.query_ids, position)
  negative, exists = query_sampling.sample(candidates, dropout.derive(seed, NEGATIVE_SALT))
  values = hinge(fragments, position, negative, margin)
  return tf.reduce_sum(tf.where(found & exists, values, tf.zeros_like(values)))


def hinge(
  fragments: cross_attention.AttendedFragments,
  position: tf.Tensor,
  negative: tf.Tensor,
  margin: float,
) -> tf.Tensor:
  """Eq. 7 of query `position` [B] with `negative` [B]: [B]."""

  def row(tensor: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    return tf.gather(tensor, index, batch_dims=1)

  w = row(fragments.weights, position)  # [B, N]
  square = tf.einsum("bn,bnm,bm->b", w, fragments.key_gram, w)

  def similarity(index: tf.Tensor) -> tf.Tensor:
    dot = tf.reduce_sum(w * row(fragments.affinities, index), -1)
    return normalize.cosine_of_products(dot, row(fragments.query_square, index), square)

  return tf.nn.relu(similarity(negative) - similarity(position) + margin)


def _all_queries(fragments: cross_attention.AttendedFragments, margin: float) -> tf.Tensor:
  """Eq. 7 as a mean over the negatives of a query and over queries, added over pairs."""
  w = fragments.weights
  square = tf.reduce_sum(w * tf.matmul(w, fragments.key_gram), -1)  # [B, M]
  dots = tf.matmul(fragments.affinities, w, transpose_b=True)  # [B, negative, query]
  cosines = normalize.cosine_of_products(dots, fragments.query_square[:, :, None], square[:, None])
  own = tf.linalg.diag_part(cosines)
  ids, eligible = fragments.query_ids, fragments.eligible
  same = (ids[:, :, None] == ids[:, None]) & (ids[:, None] >= 0)
  same |= tf.eye(tf.shape(ids)[1], dtype=tf.bool)[None]
  negatives = eligible[:, :, None] & eligible[:, None] & ~same
  hinges = masking.masked_mean(tf.nn.relu(cosines - own[:, None] + margin), negatives, axis=1)
  return tf.reduce_sum(masking.masked_mean(hinges, eligible & tf.reduce_any(negatives, 1)))
