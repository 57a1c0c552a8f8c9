"""One vector for a picture and one for a caption (SGRAF, Diao et al., AAAI 2021, Sec. 3.1).

    l_f = tanh(W_1 x_f + b_1),   g = tanh(W_2 mean_f x_f + b_2)
    o_f = softmax_f(w_3 . (l_f * g) + b_3),   x = l2n(sum_f o_f x_f)

with batch normalisation before both tanh on pictures (one statistic a region slot for
l, one a coordinate for g) and dropout 0.4 after both tanh.
"""

from typing import Any

import keras
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import batch_norm, dropout, masking, normalize, product


class Dense(keras.layers.Layer):
  """y = x W + b with a Glorot-uniform W and b = 0; weights exist from construction on."""

  def __init__(self, inputs: int, units: int, **kwargs: Any):
    super().__init__(**kwargs)
    self.kernel = self.add_weight(
      shape=(inputs, units), initializer="glorot_uniform", name="kernel"
    )
    self.bias = self.add_weight(shape=(units,), initializer="zeros", name="bias")
    self.built = True

  def call(self, x: tf.Tensor) -> tf.Tensor:
    return product.flat_matmul(x, tf.convert_to_tensor(self.kernel)) + self.bias


class SelfAttention(keras.layers.Layer):
  """Fragments [N, F, J], real where a mask [N, F] says so, to global vectors [N, J].

  Args:
    size: J.
    slots: F where batch normalisation is wanted, else None. Slots beyond a batch's F
      are left alone; more fragments than slots are an error.
    dropout_rate: after both tanh.
    salt: of the dropout.
  """

  def __init__(self, size: int, slots: int | None, dropout_rate: float, salt: int, **kwargs: Any):
    super().__init__(**kwargs)
    self.slots, self.dropout_rate, self.salt = slots, dropout_rate, salt
    self.local = Dense(size, size, name="local")
    self.overall = Dense(size, size, name="overall")
    self.common = Dense(size, 1, name="common")
    if slots:
      self.local_norm = batch_norm.BatchNorm(slots, name="local_norm")
      self.overall_norm = batch_norm.BatchNorm(size, name="overall_norm")
    self.built = True

  def call(self, x: tf.Tensor, real: tf.Tensor, seed: tf.Tensor | None = None) -> tf.Tensor:
    local = self.local(x)  # [N, F, J]
    mean = tf.reduce_sum(x * tf.cast(real, x.dtype)[..., None], 1)
    mean /= tf.maximum(tf.reduce_sum(tf.cast(real, x.dtype), 1, keepdims=True), 1)
    overall = self.overall(mean)  # [N, J]
    if self.slots:
      if x.shape[1] is not None and x.shape[1] > self.slots:
        raise errors.UserError(
          f"sgraf was built for {self.slots} regions a picture and found {x.shape[1]}; "
          "keep that many, or train it with the option regions set to the number you have"
        )
      training = seed is not None
      local = self.local_norm(local, axis=1, counted=real[..., None], training=training)
      overall = self.overall_norm(overall, axis=1, training=training)
    local = dropout.dropout(tf.tanh(local), self.dropout_rate, seed, self.salt)
    overall = dropout.dropout(tf.tanh(overall), self.dropout_rate, seed, self.salt + 1)
    logits = self.common(local * overall[:, None])[..., 0]  # [N, F]
    weights = masking.masked_softmax(logits, real)
    return normalize.l2n(tf.einsum("nf,nfj->nj", weights, x))
