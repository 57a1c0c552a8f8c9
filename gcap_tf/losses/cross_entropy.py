"""Cross entropy of captions: a mean over all words of the batch, not over captions.

    L = - Σ_{b,t} m_{b,t} log p(w_{b,t}) / Σ m        m: 1 on words and the end of the sentence

With label smoothing ε the target is 1 - ε for the word and ε / (V - 1) for every other word.
"""

import tensorflow as tf


def token_loss(logits: tf.Tensor, tokens: tf.Tensor, label_smoothing: float = 0.0) -> tf.Tensor:
  """Loss of each word: [..., V], [...] -> [...].

  With smoothing it is KL(target || p), which is 0 if p equals the target.
  """
  loss = tf.nn.sparse_softmax_cross_entropy_with_logits(tokens, logits)
  if label_smoothing == 0.0:
    return loss
  size = tf.cast(tf.shape(logits)[-1], tf.float32)
  share = label_smoothing / (size - 1.0)
  # Σ_v -log p_v = V logsumexp - Σ_v logit_v needs neither the target nor log p of all words.
  everywhere = size * tf.reduce_logsumexp(logits, -1) - tf.reduce_sum(logits, -1)
  negative_entropy = (1.0 - label_smoothing) * tf.math.log(1.0 - label_smoothing)
  negative_entropy += label_smoothing * tf.math.log(share)
  return (1.0 - label_smoothing - share) * loss + share * everywhere + negative_entropy


def packed_token_mean(
  logits: tf.Tensor, tokens: tf.Tensor, label_smoothing: float = 0.0
) -> tf.Tensor:
  """L of words that are already packed: [n, V], [n] -> scalar; 0 without words."""
  loss = token_loss(logits, tokens, label_smoothing)
  return tf.math.divide_no_nan(tf.reduce_sum(loss), tf.cast(tf.size(loss), tf.float32))


def token_mean(
  logits: tf.Tensor, tokens: tf.Tensor, token_mask: tf.Tensor, label_smoothing: float = 0.0
) -> tf.Tensor:
  """L: the mean over all words of a batch.

  Args:
    logits: [B, T, V].
    tokens: int32 [B, T].
    token_mask: bool [B, T], words and the end of the sentence.
    label_smoothing: ε.

  Returns:
    Scalar float32; 0 if the mask is empty.
  """
  loss = token_loss(logits, tokens, label_smoothing)
  weights = tf.cast(token_mask, tf.float32)
  return tf.math.divide_no_nan(tf.reduce_sum(loss * weights), tf.reduce_sum(weights))
