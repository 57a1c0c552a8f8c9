"""Stacked cross attention (Lee et al., ECCV 2018) that never forms a context vector.

Queries attend to keys: words to regions (t2i), or regions to words (i2t). Equation numbers
are those of POS-SCAN (Zhou et al., CVPR 2020), which restates t2i:

    s_qk = q . k                                                  (Eq. 4)
    s'   = lrelu(s) / (|lrelu(s)| over the queries + 1e-8)        (below Eq. 4, for each key)
    w_qk = softmax_k(lambda s'_qk),  a_q = sum_k w_qk k           (Eq. 5)
    R_q  = cos(q, a_q)                                            (Eq. 6)

Departure: the papers print max(x, 0), but every released program uses lrelu(x).

With the Gram matrix of the keys, G_kk' = k . k',

    q . a = sum_k w_k s_k,    |a|^2 = w^T G w,

so R needs N numbers for a query instead of a J-dimensional context. The cosine does not
depend on the scale of w, so the `energies` w~ = exp(lambda s') replace the weights and their
sum is not needed.

Layout: X key sets (pictures in t2i) of N keys, Y query sets (captions) of M queries;
affinities are [X, N, M, Y]. No sum runs over the last axis, and the Gram product is one
matrix product for each key set.
"""

import dataclasses
from typing import Literal

import tensorflow as tf

from gcap_tf.layers import masking, normalize

RawNorm = Literal[
  "clipped_l2norm", "l2norm", "clipped_l1norm", "l1norm", "clipped", "no_norm", "softmax"
]
Aggregation = Literal["mean", "sum", "max", "log_sum_exp"]
# |a|^2 contains exp(2 lambda), which fits into float32 up to this value.
_SAFE_LAMBDA = 20.0


@dataclasses.dataclass(frozen=True)
class Fragments:
  """Sets of regions (one for each picture) or of words (one for each caption).

  Attributes:
    vectors: [S, N, J].
    mask: bool [S, N], false on padding.
    scored: bool [S, N], the ones that count in the score of a pair; None: all real ones.
  """

  vectors: tf.Tensor
  mask: tf.Tensor
  scored: tf.Tensor | None = None

  @property
  def scored_mask(self) -> tf.Tensor:
    return self.mask if self.scored is None else self.scored

  def without_padding(self) -> tf.Tensor:
    """The vectors, 0 on padding."""
    return tf.where(self.mask[..., None], self.vectors, tf.zeros_like(self.vectors))


@dataclasses.dataclass(frozen=True)
class Affinities:
  """Products of keys and queries for one direction of attention.

  Attributes:
    values: s, [X, N, M, Y]; 0 on padding.
    key_gram: G, [X, N, N]; 0 on padding.
    query_square: |q|^2, [1 or X, M, Y].
    key_mask: bool [X, N, 1, 1].
    query_mask: bool [1 or X, M, Y], queries that the normalisation runs over.
    scored_mask: bool [1 or X, M, Y], queries that count in the score of a pair.
  """

  values: tf.Tensor
  key_gram: tf.Tensor
  query_square: tf.Tensor
  key_mask: tf.Tensor
  query_mask: tf.Tensor
  scored_mask: tf.Tensor


def all_pairs(keys: Fragments, queries: Fragments) -> Affinities:
  """Affinities of every key set [X, N, J] with every query set [Y, M, J]."""
  k = keys.without_padding()
  q = tf.transpose(queries.without_padding(), [1, 0, 2])  # [M, Y, J]
  shape = tf.concat([tf.shape(k)[:2], tf.shape(q)[:2]], 0)
  size = k.shape[-1]
  values = tf.matmul(tf.reshape(k, [-1, size]), tf.reshape(q, [-1, size]), transpose_b=True)
  return Affinities(
    values=tf.reshape(values, shape),
    key_gram=tf.matmul(k, k, transpose_b=True),
    query_square=tf.reduce_sum(tf.square(q), -1)[None],
    key_mask=keys.mask[:, :, None, None],
    query_mask=tf.transpose(queries.mask)[None],
    scored_mask=tf.transpose(queries.scored_mask)[None],
  )


def matched_pairs(keys: Fragments, queries: Fragments) -> Affinities:
  """Affinities of key set p [P, N, J] with query set p [P, M, J] only: X = P and Y = 1."""
  k, q = keys.without_padding(), queries.without_padding()
  return Affinities(
    values=tf.matmul(k, q, transpose_b=True)[..., None],
    key_gram=tf.matmul(k, k, transpose_b=True),
    query_square=tf.reduce_sum(tf.square(q), -1)[..., None],
    key_mask=keys.mask[:, :, None, None],
    query_mask=queries.mask[..., None],
    scored_mask=queries.scored_mask[..., None],
  )


def normalise(affinities: Affinities, raw_norm: RawNorm) -> tf.Tensor:
  """s', normalised over the queries for each key: [X, N, M, Y].

  Departure: the released code calls an undefined function for the two l1 norms; here
  they divide by the sum of absolute values.
  """
  s = affinities.values
  if raw_norm == "softmax":
    return masking.masked_softmax(s, affinities.query_mask[:, None], axis=2)
  s = normalize.lrelu(s) if raw_norm.startswith("clipped") else s
  if raw_norm.endswith("l2norm"):
    return normalize.l2n(s, axis=2)
  if raw_norm.endswith("l1norm"):
    return normalize.l1n(s, axis=2)
  return s


def energies(affinities: Affinities, raw_norm: RawNorm, lambda_softmax: float) -> tf.Tensor:
  """w~ = exp(lambda s'), 0 on padding keys: the attention up to a factor for each query."""
  exponents = lambda_softmax * normalise(affinities, raw_norm)
  if raw_norm in ("clipped", "no_norm") or lambda_softmax > _SAFE_LAMBDA:
    # With the other norms |lambda s'| is at most lambda; with these it has no bound.
    real = tf.where(affinities.key_mask, exponents, exponents.dtype.min)
    exponents -= tf.stop_gradient(tf.reduce_max(real, 1, keepdims=True))
    exponents = tf.minimum(exponents, 0.0)  # Padding keys can exceed the maximum of real keys.
  return tf.exp(exponents) * tf.cast(affinities.key_mask, exponents.dtype)


def weights(energies: tf.Tensor) -> tf.Tensor:
  """w from w~: the sum over keys (axis 1) is 1, or 0 if no key is real."""
  return tf.math.divide_no_nan(energies, tf.reduce_sum(energies, 1, keepdims=True))


def relevance(affinities: Affinities, energies: tf.Tensor) -> tf.Tensor:
  """R_q = cos(q, a_q) from the Gram matrix: [X, M, Y]; 0 on padding queries."""
  dot = tf.reduce_sum(energies * affinities.values, 1)
  return normalize.cosine_of_products(
    dot, affinities.query_square, context_square(affinities, energies)
  )


def context_square(affinities: Affinities, energies: tf.Tensor) -> tf.Tensor:
  """|a|^2 = w^T G w: [X, M, Y]."""
  shape = tf.shape(energies)
  flat = tf.reshape(energies, [shape[0], shape[1], shape[2] * shape[3]])  # [X, N, M Y]
  square = tf.reduce_sum(flat * tf.matmul(affinities.key_gram, flat), 1)
  return tf.reshape(square, [shape[0], shape[2], shape[3]])


def aggregate(
  values: tf.Tensor, scored_mask: tf.Tensor, how: Aggregation, lambda_lse: float = 6.0
) -> tf.Tensor:
  """One score for each pair from the scores of its queries: [X, M, Y] to [X, Y].

  `log_sum_exp` is (1/lambda) log sum exp(lambda R). It grows with the length of the
  sentence, as in the released code.
  """
  scored_mask = tf.broadcast_to(scored_mask, tf.shape(values))
  real = tf.cast(scored_mask, values.dtype)
  if how == "mean":
    return masking.masked_mean(values, scored_mask, axis=1)
  if how == "sum":
    return tf.reduce_sum(values * real, 1)
  if how == "max":
    return tf.reduce_max(tf.where(scored_mask, values, values.dtype.min), 1)
  exponents = tf.where(scored_mask, lambda_lse * values, values.dtype.min)
  return tf.reduce_logsumexp(exponents, 1) / lambda_lse


@dataclasses.dataclass(frozen=True)
class AttendedFragments:
  """One direction of matched pairs, in the form that constraints on attention read.

  Attributes:
    weights: w, [B, M, N]; rows sum to 1 over real keys.
    affinities: q . k, [B, M, N].
    key_gram: k . k', [B, N, N].
    query_square: |q|^2, [B, M].
    key_mask: bool [B, N].
    eligible: bool [B, M], queries that a constraint may pick (no <start>, <end>, padding).
    query_ids: int32 [B, M], equal for queries that are the same word; -1 if unknown.
  """

  weights: tf.Tensor
  affinities: tf.Tensor
  key_gram: tf.Tensor
  query_square: tf.Tensor
  key_mask: tf.Tensor
  eligible: tf.Tensor
  query_ids: tf.Tensor


def attended_fragments(
  affinities: Affinities, energies: tf.Tensor, eligible: tf.Tensor, query_ids: tf.Tensor
) -> AttendedFragments:
  """Fragments from the affinities of `matched_pairs` and their energies, query-major."""
  return AttendedFragments(
    weights=tf.transpose(weights(energies)[..., 0], [0, 2, 1]),
    affinities=tf.transpose(affinities.values[..., 0], [0, 2, 1]),
    key_gram=affinities.key_gram,
    query_square=affinities.query_square[..., 0],
    key_mask=affinities.key_mask[..., 0, 0],
    eligible=eligible,
    query_ids=query_ids,
  )
