"""One vector for a picture and one for a caption (SGRAF, Diao et al., AAAI 2021, Sec. 3.1).

    l_f = tanh(W_1 x_f + b_1),   g = tanh(W_2 mean_f x_f + b_2)
    o_f = softmax_f(w_3 . (l_f * g) + b_3),   x = l2n(sum_f o_f x_f)

Pictures have batch normalisation before both tanh (one statistic for each region slot in l,
one for each coordinate in g). Dropout follows both tanh.
"""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from gcap_tf.layers import batch_norm, dropout, masking, normalize


def dense(input_shape: Sequence[int | None], units: int, name: str) -> keras.layers.Dense:
  """A `keras.layers.Dense` (Glorot-uniform W, b = 0) whose weights exist at once."""
  layer = keras.layers.Dense(units, name=name)
  layer.build(tuple(input_shape))
  return layer


class SelfAttention(keras.layers.Layer):
  """Fragments [N, F, J] with a mask [N, F] of real ones, to global vectors [N, J].

  Keras has no layer for this pooling: its queries are the mean of all fragments.

  Args:
    size: J.
    slots: the largest F if the layer has batch normalisation, else None. A batch with
      fewer fragments leaves the statistics of the other slots alone.
    dropout_rate: rate of the dropout after both tanh.
    salt: separates this dropout from others with the same seed.
  """

  def __init__(self, size: int, slots: int | None, dropout_rate: float, salt: int, **kwargs: Any):
    super().__init__(**kwargs)
    self.slots, self.dropout_rate, self.salt = slots, dropout_rate, salt
    self.local = dense([None, None, size], size, "local")
    self.overall = dense([None, size], size, "overall")
    self.common = dense([None, None, size], 1, "common")
    if slots:
      self.local_norm = batch_norm.BatchNorm(slots, name="local_norm")
      self.overall_norm = batch_norm.BatchNorm(size, name="overall_norm")
    self.build((None, slots, size))

  def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return (input_shape[0], input_shape[-1])

  def call(self, x: tf.Tensor, real: tf.Tensor, seed: tf.Tensor | None = None) -> tf.Tensor:
    local = self.local(x)  # [N, F, J]
    mean = tf.reduce_sum(x * tf.cast(real, x.dtype)[..., None], 1)
    mean /= tf.maximum(tf.reduce_sum(tf.cast(real, x.dtype), 1, keepdims=True), 1)
    overall = self.overall(mean)  # [N, J]
    if self.slots:
      training = seed is not None
      local = self.local_norm(local, axis=1, counted=real[..., None], training=training)
      overall = self.overall_norm(overall, axis=1, training=training)
    local = dropout.dropout(tf.tanh(local), self.dropout_rate, seed, self.salt)
    overall = dropout.dropout(tf.tanh(overall), self.dropout_rate, seed, self.salt + 1)
    logits = self.common(local * overall[:, None])[..., 0]  # [N, F]
    weights = masking.masked_softmax(logits, real)
    return normalize.l2n(tf.einsum("nf,nfj->nj", weights, x))
