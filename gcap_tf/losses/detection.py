"""What a one-stage detector minimises.

    quality focal   |q - p|^2 BCE(q, p), summed over cells, over the number of positives
    overlap         1 - GIoU, summed over positives, over their number
    naming          cross entropy with the shares of words that people used

q is the overlap (IoU) of the predicted box with its annotated one at positive cells and 0
elsewhere, so the score ranks boxes by how well they fit. Quality focal loss: Li et al., NeurIPS
2020, arXiv:2006.04388.
"""

import tensorflow as tf


def quality_focal(logits: tf.Tensor, quality: tf.Tensor, counted: tf.Tensor) -> tf.Tensor:
  """Sum over the cells that count.

  Args:
    logits: [B, P].
    quality: q, [B, P] from 0 to 1.
    counted: bool [B, P], cells on the photograph.
  """
  far = tf.square(quality - tf.sigmoid(logits))
  entropy = tf.nn.sigmoid_cross_entropy_with_logits(quality, logits)
  return tf.reduce_sum(tf.where(counted, far * entropy, 0.0))


def overlap(generalised: tf.Tensor, positive: tf.Tensor) -> tf.Tensor:
  """Sum of 1 - GIoU over positive cells.

  Args:
    generalised: GIoU with the assigned box, [B, P].
    positive: bool [B, P].
  """
  return tf.reduce_sum(tf.where(positive, 1.0 - generalised, 0.0))


def naming(logits: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
  """Mean over the regions that people named; 0 if there is none.

  Args:
    logits: [N, L].
    counts: [N, L], how many phrases use each word.
  """
  total = tf.reduce_sum(counts, -1, keepdims=True)
  shares = tf.math.divide_no_nan(counts, total)
  entropy = tf.nn.softmax_cross_entropy_with_logits(shares, logits)
  named = tf.cast(total[:, 0] > 0, logits.dtype)
  return tf.math.divide_no_nan(tf.reduce_sum(named * entropy), tf.reduce_sum(named))
