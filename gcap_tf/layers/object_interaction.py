"""Self-attention among regions, as GVD's supervised model has it (Zhou et al., CVPR 2019).

    x' = norm(x + Drop(attention(x)))     y = norm(x' + Drop(W_2 ReLU(W_1 x')))
    norm(x) = γ (x - μ) / (σ + 1e-6) + β,  σ the unbiased standard deviation

Heads take consecutive chunks of ceil(d / heads) columns, the last what is left; every head
divides its scores by sqrt(d). Departure from the released code: padding is not attended to.
"""

import keras
import tensorflow as tf

from gcap_tf.layers import dropout, linear, masking

_SALTS = 10  # Dropout places of one layer, at most.


class UnbiasedNorm(keras.layers.Layer):
  def __init__(self, size: int, **kwargs):
    super().__init__(**kwargs)
    self.size = size
    self.gamma = self.add_weight(shape=(size,), initializer="ones", name="gamma")
    self.beta = self.add_weight(shape=(size,), initializer="zeros", name="beta")
    self.built = True

  def call(self, x: tf.Tensor) -> tf.Tensor:
    centred = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_sum(tf.square(centred), -1, keepdims=True) / (self.size - 1.0)
    # A constant row has no direction: the root's gradient there would be infinite.
    deviation = tf.sqrt(tf.maximum(variance, 1e-20))
    return self.gamma * centred / (deviation + 1e-6) + self.beta


class ObjectInteraction(keras.layers.Layer):
  """Post-norm encoder layers over regions, [I, R, d] -> [I, R, d]."""

  def __init__(
    self, size: int, layers: int = 2, heads: int = 6, inner: int = 512, rate: float = 0.2, **kwargs
  ):
    super().__init__(**kwargs)
    self.size, self.rate = size, rate
    chunk = -(-size // heads)
    self.chunks = [min(chunk, size - start) for start in range(0, size, chunk)]
    self.blocks = [
      {
        **{n: linear.Linear(size, size, use_bias=False, name=f"{n}_{b}") for n in "qkvo"},
        "first_norm": UnbiasedNorm(size, name=f"first_norm_{b}"),
        "widen": linear.Linear(size, inner, name=f"widen_{b}"),
        "narrow": linear.Linear(inner, size, name=f"narrow_{b}"),
        "second_norm": UnbiasedNorm(size, name=f"second_norm_{b}"),
      }
      for b in range(layers)
    ]
    self.built = True

  def call(
    self, regions: tf.Tensor, region_mask: tf.Tensor, seed: tf.Tensor | None = None
  ) -> tf.Tensor:
    for number, block in enumerate(self.blocks):
      salt = 200 + _SALTS * number
      found = dropout.dropout(
        self._attend(block, regions, region_mask, seed, salt), self.rate, seed, salt
      )
      regions = block["first_norm"](regions + found)
      found = block["narrow"](tf.nn.relu(block["widen"](regions)))
      found = dropout.dropout(found, self.rate, seed, salt + 1)
      regions = block["second_norm"](regions + found)
    return regions

  def _attend(self, block, x, region_mask, seed, salt):
    q, k, v = (tf.split(block[name](x), self.chunks, axis=-1) for name in "qkv")
    heads = []
    for n in range(len(self.chunks)):
      scores = tf.matmul(q[n], k[n], transpose_b=True) / (self.size**0.5)  # [I, R, R]
      weights = masking.masked_softmax(scores, region_mask[:, tf.newaxis])
      weights = dropout.dropout(weights, self.rate, seed, salt + 2 + n)
      heads.append(tf.matmul(weights, v[n]))
    return block["o"](tf.concat(heads, -1))
