"""Attended regions raise the score of the word of their label.

    o_t = h_t + g(h_t) Σ_i α_{t,i} w_{label(i)}        logits = W o_t + b

with w_c the row of W that scores the word c, and g = γ sigmoid(u · h + u_0). The more attention
lies on regions with a label, the likelier is the word of that label. So cross entropy alone
teaches nouns to look at their objects, and the model can use words that are rare in training.

A region with a distribution p_i over labels in place of one label adds the mean row
Σ_l p_i(l) w_l: the second likeliest label of a region is often the right one.

Not from a paper; the idea is that of slots filled by detections (Lu et al., "Neural Baby
Talk", CVPR 2018), within one distribution over words.
"""

from collections.abc import Sequence

import keras
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import linear


def distribution(features: tf.Tensor, columns: Sequence[int]) -> tf.Tensor:
  """p of a region's labels, 0 where nothing is known: [I, R, D] -> [I, R, L].

  Args:
    features: hold √p up to a constant.
    columns: its first column and one past the last.
  """
  first, end = columns
  p = tf.square(features[..., first:end])
  return tf.math.divide_no_nan(p, tf.reduce_sum(p, -1, keepdims=True))


class Naming(keras.layers.Layer):
  """Adds the labels of attended regions to the hidden state that words are scored from.

  Keras has no such layer; it is our own idea.

  Args:
    hidden_size: H.
    label_words: the word of every label, the unknown label (0) first; 0 if it has none. With
      `label_columns`, the words of these columns.
    num_labels: number of labels, without the unknown one.
    label_columns: first column of a region's feature that holds the distribution of its labels,
      as square roots of p up to a constant, and one past the last; () reads the one label.
  """

  def __init__(
    self,
    hidden_size: int,
    label_words: Sequence[int],
    num_labels: int,
    label_columns: Sequence[int] = (),
    **kwargs,
  ):
    super().__init__(**kwargs)
    if label_columns and len(label_words) != label_columns[1] - label_columns[0]:
      raise errors.UserError(
        f"naming needs the words of {label_columns[1] - label_columns[0]} columns of labels, "
        f"and has {len(label_words)}"
      )
    if not label_columns and (not num_labels or len(label_words) != num_labels + 1):
      raise errors.UserError(
        f"naming needs the words of {num_labels} region labels and of the unknown one, "
        f"and has {len(label_words)}"
      )
    self.label_words, self.label_columns = tuple(label_words), tuple(label_columns)
    self.gate = linear.dense(hidden_size, 1, name="gate")
    self.gain = self.add_weight(
      shape=(), initializer=keras.initializers.Constant(10.0), name="gain"
    )
    self.build((None, None, hidden_size))

  def compute_output_shape(self, input_shape):
    return input_shape

  def names(self, batch: dict[str, tf.Tensor], kernel: tf.Tensor) -> tf.Tensor:
    """What every region adds if all attention lies on it: kernel [H, V] -> [I, R, H].

    Args:
      batch: has `region_labels` [I, R], or `features` [I, R, D] with a distribution of labels.
      kernel: W.
    """
    words = tf.constant(self.label_words, tf.int32)
    if self.label_columns:
      rows = self._rows(words, kernel)  # [L, H]
      p = distribution(batch["features"], self.label_columns)
      return tf.einsum("irl,lh->irh", p, rows)
    return self._rows(tf.gather(words, batch["region_labels"]), kernel)

  def _rows(self, words: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """w of each word, 0 for the word 0: [...] -> [..., H]."""
    rows = tf.gather(tf.transpose(kernel), words)
    return tf.where((words > 0)[..., tf.newaxis], rows, 0.0)

  def call(self, names: tf.Tensor, attention: tf.Tensor, hidden: tf.Tensor) -> tf.Tensor:
    """g Σ_i α_i w_i: [I, R, H], [B, ..., R] and h [B, ..., H] -> [B, ..., H]; B = I * n."""
    pictures, regions, _ = tf.unstack(tf.shape(names))
    weights = tf.reshape(attention, [pictures, -1, regions])
    label_sums = tf.reshape(tf.matmul(weights, names), tf.shape(hidden))
    return self.gain * tf.sigmoid(self.gate(hidden)) * label_sums
