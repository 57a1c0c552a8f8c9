"""Additive attention (Bahdanau et al., ICLR 2015) with K branches over shared values.

    z_i = w · tanh(p_i + W_h h + b_h) + b_a      p_i = W_p v_i + b_p

Keys p are projected once per picture; all sequences (captions, beams) of a picture share them
without a copy.
"""

import keras
import tensorflow as tf

from gcap_tf.layers import linear


class AdditiveAttention(keras.layers.Layer):
  """Scores values against queries; the caller applies softmax and elimination.

  Why not `keras.layers.AdditiveAttention`: keys are computed once for all words (measured speed),
  and each branch has its own weights.

  Args:
    value_size: size of v_i.
    query_size: H, size of h.
    units: A.
    heads: K, each with its own weights.
  """

  def __init__(self, value_size: int, query_size: int, units: int, heads: int = 1, **kwargs):
    super().__init__(**kwargs)
    self.units, self.heads = units, heads
    self.key_map = linear.dense(value_size, heads * units, name=f"{self.name}_keys")
    self.query_map = linear.dense(query_size, heads * units, name=f"{self.name}_queries")
    start = linear.uniform(units)
    self.score_kernel = self.add_weight(shape=(heads, units), initializer=start, name="score")
    self.score_bias = self.add_weight(shape=(heads,), initializer=start, name="score_bias")
    self.build((None, None, value_size))

  def compute_output_shape(self, input_shape):
    return (input_shape[0], None, self.heads, input_shape[1])

  def keys(self, values: tf.Tensor) -> tf.Tensor:
    """Keys of values: [I, R, value_size] -> [I, K, R, A]."""
    keys = self.key_map(values)
    if self.heads == 1:
      return keys[:, tf.newaxis]
    rows, count = tf.shape(values)[0], tf.shape(values)[1]
    keys = tf.reshape(keys, [rows, count, self.heads, self.units])
    return tf.transpose(keys, [0, 2, 1, 3])

  def call(self, keys: tf.Tensor, queries: tf.Tensor) -> tf.Tensor:
    """Scores z of every value.

    Args:
      keys: [I, K, R, A].
      queries: [B, H], B = I * n, picture-major.

    Returns:
      [I, n, K, R].
    """
    return self.scores(keys, self.query_map(queries))

  def scores(self, keys: tf.Tensor, projected: tf.Tensor) -> tf.Tensor:
    """As `call`, for queries that are already projected: [B, K * A]."""
    pictures, regions = tf.shape(keys)[0], tf.shape(keys)[2]
    queries = tf.reshape(projected, [pictures, -1, self.heads, 1, self.units])
    hidden = tf.tanh(keys[:, tf.newaxis] + queries)  # [I, n, K, R, A]
    if self.heads == 1:
      flat = tf.reshape(hidden, [-1, self.units])
      scores = tf.matmul(flat, self.score_kernel, transpose_b=True) + self.score_bias
      return tf.reshape(scores, [pictures, -1, 1, regions])
    scores = tf.einsum("inkra,ka->inkr", hidden, self.score_kernel)
    return scores + self.score_bias[:, tf.newaxis]


def attend(weights: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
  """Weighted sums of values: [I, n, K, R], [I, R, H] -> [I * n, K, H]."""
  _, n, heads, regions = tf.unstack(tf.shape(weights))
  heads = weights.shape[2] or heads
  sums = tf.matmul(tf.reshape(weights, [-1, n * heads, regions]), values)  # [I, n * K, H]
  return tf.reshape(sums, [-1, heads, values.shape[-1]])
