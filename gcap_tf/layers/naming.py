"""Attended regions raise the score of the word of their label.

    o_t = h_t + g(h_t) Σ_i α_{t,i} w_{label(i)}        logits = W o_t + b

with w_c the row of W that scores the word c, and g = γ sigmoid(u · h + u_0). The more attention
lies on regions with a label, the likelier is the word of that label. So cross entropy alone
teaches nouns to look at their objects, and the model can use words that are rare in training.

Not from a paper; the idea is that of slots filled by detections (Lu et al., "Neural Baby
Talk", CVPR 2018), within one distribution over words.
"""

from collections.abc import Sequence

import keras
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import linear


class Naming(keras.layers.Layer):
  """Adds the labels of attended regions to the hidden state that words are scored from.

  Keras has no such layer; it is our own idea.

  Args:
    hidden_size: H.
    label_words: the word of every label, the unknown label (0) first; 0 if it has none.
    num_labels: number of labels, without the unknown one.
  """

  def __init__(self, hidden_size: int, label_words: Sequence[int], num_labels: int, **kwargs):
    super().__init__(**kwargs)
    if not num_labels or len(label_words) != num_labels + 1:
      raise errors.UserError(
        f"naming needs the words of {num_labels} region labels and of the unknown one, "
        f"and has {len(label_words)}"
      )
    self.label_words = tuple(label_words)
    self.gate = linear.dense(hidden_size, 1, name="gate")
    self.gain = self.add_weight(
      shape=(), initializer=keras.initializers.Constant(10.0), name="gain"
    )
    self.build((None, None, hidden_size))

  def compute_output_shape(self, input_shape):
    return input_shape

  def names(self, region_labels: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """w of every region's label, 0 if its label has no word: [I, R], [H, V] -> [I, R, H]."""
    words = tf.gather(tf.constant(self.label_words, tf.int32), region_labels)
    rows = tf.gather(tf.transpose(kernel), words)
    return tf.where((words > 0)[..., tf.newaxis], rows, 0.0)

  def call(self, names: tf.Tensor, attention: tf.Tensor, hidden: tf.Tensor) -> tf.Tensor:
    """g Σ_i α_i w_i: [I, R, H], [B, ..., R] and h [B, ..., H] -> [B, ..., H]; B = I * n."""
    pictures, regions, _ = tf.unstack(tf.shape(names))
    weights = tf.reshape(attention, [pictures, -1, regions])
    label_sums = tf.reshape(tf.matmul(weights, names), tf.shape(hidden))
    return self.gain * tf.sigmoid(self.gate(hidden)) * label_sums
