"""Which query fragments the attention constraints look at (Chen et al., WACV 2023, Sec. 4.2).

One random query for every matched pair, and one random other query of the same
sentence or picture as its negative. Draws are pure functions of a seed.
"""

import tensorflow as tf


def sample(eligible: tf.Tensor, seed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """One eligible position of each row, uniformly.

  Args:
    eligible: bool [B, M].
    seed: int32 [2].

  Returns:
    Position int32 [B] and whether the row has any, bool [B].
  """
  draws = tf.random.stateless_uniform(tf.shape(eligible), seed)
  draws = tf.where(eligible, draws, -1.0)
  return tf.argmax(draws, 1, output_type=tf.int32), tf.reduce_any(eligible, 1)


def others(eligible: tf.Tensor, query_ids: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
  """Eligible negatives of one query in each row: not itself, nor the same word again.

  Args:
    eligible: bool [B, M].
    query_ids: int32 [B, M]; -1 where positions cannot be the same word.
    position: int32 [B], the query.

  Returns:
    bool [B, M].
  """
  own_id = tf.gather(query_ids, position, batch_dims=1)[:, None]
  itself = tf.range(tf.shape(eligible)[1])[None] == position[:, None]
  return eligible & ~itself & ((query_ids != own_id) | (query_ids < 0))
