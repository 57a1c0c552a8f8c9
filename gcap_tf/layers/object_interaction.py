"""Self-attention among regions, as GVD's supervised model has it (Zhou et al., CVPR 2019).

    x' = norm(x + Drop(attention(x)))     y = norm(x' + Drop(W_2 ReLU(W_1 x')))
    norm(x) = γ (x - μ) / (σ + 1e-6) + β,  σ the unbiased standard deviation

Heads take consecutive chunks of ceil(d / heads) columns, the last one the rest; every head
divides its scores by sqrt(d). Departure from the released code: padding is not attended to.
"""

import keras
import tensorflow as tf

from gcap_tf.layers import dropout, linear, masking

_SALTS = 10  # Dropout places of one layer, at most.


class UnbiasedNorm(keras.layers.Layer):
  """Why not `keras.layers.LayerNormalization`: parity with GVD (unbiased deviation, ε outside)."""

  def __init__(self, size: int, **kwargs):
    super().__init__(**kwargs)
    self.size = size
    self.gamma = self.add_weight(shape=(size,), initializer="ones", name="gamma")
    self.beta = self.add_weight(shape=(size,), initializer="zeros", name="beta")
    self.build((None, size))

  def compute_output_shape(self, input_shape):
    return input_shape

  def call(self, x: tf.Tensor) -> tf.Tensor:
    centred = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_sum(tf.square(centred), -1, keepdims=True) / (self.size - 1.0)
    # A constant row has no direction: the root's gradient there would be infinite.
    deviation = tf.sqrt(tf.maximum(variance, 1e-20))
    return self.gamma * centred / (deviation + 1e-6) + self.beta


class _Block(keras.layers.Layer):
  """One encoder layer, number `number` of its stack."""

  def __init__(self, size: int, heads: int, inner: int, rate: float, number: int, **kwargs):
    super().__init__(**kwargs)
    self.size, self.rate, self.salt = size, rate, 200 + _SALTS * number
    chunk = -(-size // heads)
    self.chunks = [min(chunk, size - start) for start in range(0, size, chunk)]

    def square(name):
      return linear.dense(size, size, name=f"{name}_{number}", use_bias=False)

    self.q, self.k, self.v, self.o = square("q"), square("k"), square("v"), square("o")
    self.first_norm = UnbiasedNorm(size, name=f"first_norm_{number}")
    self.widen = linear.dense(size, inner, name=f"widen_{number}")
    self.narrow = linear.dense(inner, size, name=f"narrow_{number}")
    self.second_norm = UnbiasedNorm(size, name=f"second_norm_{number}")
    self.build((None, None, size))

  def compute_output_shape(self, input_shape):
    return input_shape

  def call(
    self, regions: tf.Tensor, region_mask: tf.Tensor, seed: tf.Tensor | None = None
  ) -> tf.Tensor:
    found = self._attend(regions, region_mask, seed)
    regions = self.first_norm(regions + dropout.dropout(found, self.rate, seed, self.salt))
    found = self.narrow(tf.nn.relu(self.widen(regions)))
    return self.second_norm(regions + dropout.dropout(found, self.rate, seed, self.salt + 1))

  def _attend(self, x, region_mask, seed):
    q, k, v = (tf.split(layer(x), self.chunks, axis=-1) for layer in (self.q, self.k, self.v))
    heads = []
    for n in range(len(self.chunks)):
      scores = tf.matmul(q[n], k[n], transpose_b=True) / (self.size**0.5)  # [I, R, R]
      weights = masking.masked_softmax(scores, region_mask[:, tf.newaxis])
      weights = dropout.dropout(weights, self.rate, seed, self.salt + 2 + n)
      heads.append(tf.matmul(weights, v[n]))
    return self.o(tf.concat(heads, -1))


class ObjectInteraction(keras.layers.Layer):
  """Post-norm encoder layers over regions, [I, R, d] -> [I, R, d].

  Why not `keras.layers.MultiHeadAttention`: parity with GVD (chunks of unequal size, its scale
  and its norm) and dropout that resumes exactly.
  """

  def __init__(
    self, size: int, layers: int = 2, heads: int = 6, inner: int = 512, rate: float = 0.2, **kwargs
  ):
    super().__init__(**kwargs)
    self.blocks = [_Block(size, heads, inner, rate, number) for number in range(layers)]
    self.build((None, None, size))

  def compute_output_shape(self, input_shape):
    return input_shape

  def call(
    self, regions: tf.Tensor, region_mask: tf.Tensor, seed: tf.Tensor | None = None
  ) -> tf.Tensor:
    for block in self.blocks:
      regions = block(regions, region_mask, seed)
    return regions
