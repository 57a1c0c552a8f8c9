"""Distributed attention (Chen et al., arXiv:2108.01056): K branches that look at different regions.

One attention tends to settle on the most distinctive part of an object. Here K branches attend
one after the other, and none may pick a region that an earlier branch picked. Each branch names
a word; the word with the most votes wins, and its box encloses the picks of its branches.

    α^k = softmax over regions not in {m^1 .. m^(k-1)} of z^k      m^k = argmax_i α^k_i
"""

import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import masking


def attention_weights(scores: tf.Tensor, region_mask: tf.Tensor, eliminate: bool) -> tf.Tensor:
  """Attention of K branches.

  No gradient passes through picks. A branch for which no region is left sees all regions.

  Args:
    scores: z, [..., K, R].
    region_mask: bool, broadcastable to [..., R].
    eliminate: hides from a branch the regions that earlier branches picked.

  Returns:
    α, [..., K, R].
  """
  if scores.shape[-2] == 1 or not eliminate:
    return masking.masked_softmax(scores, region_mask[..., tf.newaxis, :])
  rows = tf.unstack(scores, axis=-2)
  real = tf.broadcast_to(region_mask, tf.shape(rows[0]))
  free, weights = real, []
  for row in rows:
    left = tf.where(tf.reduce_any(free, -1, keepdims=True), free, real)
    alpha = masking.masked_softmax(row, left)
    weights.append(alpha)
    picked = tf.one_hot(tf.argmax(alpha, -1), tf.shape(row)[-1], on_value=True, off_value=False)
    free = free & ~picked
  return tf.stack(weights, axis=-2)


def score_maps(branches: int, heads: int, hidden_size: int) -> int:
  """Number of scores of a region: one per branch, or one per head of the only branch."""
  if heads > 1 and (branches > 1 or hidden_size < heads):
    raise errors.UserError(
      f"heads={heads} needs branches=1 and a hidden_size of at least {heads}; "
      f"branches={branches}, hidden_size={hidden_size}"
    )
  return max(branches, heads)


def head_sizes(size: int, heads: int) -> list[int]:
  """Sizes of the heads' slices of a region; the first ones are larger by 1 if they must be."""
  return [size // heads + (head < size % heads) for head in range(heads)]


def join_heads(
  scores: tf.Tensor, region_mask: tf.Tensor, regions: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
  """Multi-head attention, the paper's comparison: head k reads the k-th slice of a region.

  The paper compares 2 to 6 heads; 3, 5 and 6 do not divide its 1024 units, and it does not say
  how it slices them. Here slices differ by at most 1 unit (`head_sizes`).

  Args:
    scores: z, [I, n, heads, R].
    region_mask: bool [I, R].
    regions: [I, R, H].

  Returns:
    Scores and attention, the mean over heads, [I, n, 1, R] each; and the concatenated
    contexts of the heads, [I * n, 1, H].
  """
  alpha = masking.masked_softmax(scores, region_mask[:, tf.newaxis, tf.newaxis])
  heads, size = scores.shape[2], regions.shape[-1]
  slices = tf.split(regions, head_sizes(size, heads), axis=-1)
  weights = tf.unstack(alpha, axis=2)
  context = tf.concat([tf.matmul(*pair) for pair in zip(weights, slices, strict=True)], -1)
  mean = tf.reduce_mean(alpha, 2, keepdims=True)
  return tf.math.log(mean + 1e-8), mean, tf.reshape(context, [-1, 1, size])


def mixture(branch_logits: tf.Tensor) -> tf.Tensor:
  """Logits of the branches' mean distribution: [..., K, V] -> [..., V]."""
  if branch_logits.shape[-2] == 1:
    return tf.squeeze(branch_logits, -2)
  log_probs = tf.nn.log_softmax(branch_logits)
  return tf.reduce_logsumexp(log_probs, -2) - tf.math.log(float(branch_logits.shape[-2]))


def vote(branch_logits: tf.Tensor) -> tf.Tensor:
  """The word that most branches name, int32: [..., K, V] -> [...].

  A tie goes to the larger sum of the branches' probabilities, then to the first branch.
  """
  named = tf.argmax(branch_logits, -1, output_type=tf.int32)  # [..., K]
  count = branch_logits.shape[-2]
  if count == 1:
    return tf.squeeze(named, -1)
  votes = tf.reduce_sum(
    tf.cast(named[..., tf.newaxis] == named[..., tf.newaxis, :], tf.float32), -1
  )
  summed = tf.reduce_sum(tf.nn.softmax(branch_logits), -2)  # [..., V], in [0, K]
  support = tf.gather(summed, named, batch_dims=named.shape.rank - 1)  # [..., K]
  # Support stays below K + 1, so it can only break ties between equal votes.
  best = tf.argmax(votes * (count + 1.0) + support, -1, output_type=tf.int32)
  return tf.gather(named, best, batch_dims=named.shape.rank - 1)


def winners(branch_logits: tf.Tensor, token: tf.Tensor) -> tf.Tensor:
  """Branches that name `token`; the first branch alone if none does.

  Args:
    branch_logits: [..., K, V].
    token: int32 [...].

  Returns:
    bool [..., K].
  """
  named = tf.argmax(branch_logits, -1, output_type=tf.int32)
  won = named == token[..., tf.newaxis]
  first = tf.range(tf.shape(won)[-1]) == 0
  return tf.where(tf.reduce_any(won, -1, keepdims=True), won, first)
