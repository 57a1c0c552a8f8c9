"""Samples query fragments for the attention constraints (Chen et al., WACV 2023, Sec. 4.2).

Each matched pair gets one random query, and another random query of the same sentence or
picture as its negative. Samples are pure functions of a seed.
"""

import tensorflow as tf


def sample(eligible: tf.Tensor, seed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Draws one eligible position of each row, uniformly.

  Args:
    eligible: bool [B, M].
    seed: int32 [2].

  Returns:
    The position, int32 [B], and whether the row has an eligible one, bool [B].
  """
  draws = tf.random.stateless_uniform(tf.shape(eligible), seed)
  draws = tf.where(eligible, draws, -1.0)
  return tf.argmax(draws, 1, output_type=tf.int32), tf.reduce_any(eligible, 1)


def others(eligible: tf.Tensor, query_ids: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
  """Eligible negatives of one query in each row: neither itself nor the same word.

  Args:
    eligible: bool [B, M].
    query_ids: int32 [B, M], equal for the same word; -1 for fragments that are not words.
    position: int32 [B], the query.

  Returns:
    bool [B, M].
  """
  own_id = tf.gather(query_ids, position, batch_dims=1)[:, None]
  itself = tf.range(tf.shape(eligible)[1])[None] == position[:, None]
  return eligible & ~itself & ((query_ids != own_id) | (query_ids < 0))
