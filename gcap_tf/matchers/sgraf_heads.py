"""The two heads of SGRAF (Diao et al., AAAI 2021, Sec. 3.3): from nodes to one vector.

SGR, graph reasoning, for `steps` steps with separate weights:

    A_ij = softmax_j((W_q x_i + b_q) . (W_k x_j + b_k)),   X <- relu(W_r (A X) + b_r),   z = x_0

SAF, attention filtration:

    beta_j = l1n_j(sigmoid(BN(w_a . x_j + b_a))),   z = l2n(sum_j beta_j x_j)
"""

import math
from typing import Any

import keras
import tensorflow as tf

from gcap_tf.layers import batch_norm, masking, normalize, product, self_attention


class Reasoning(keras.layers.Layer):
  """SGR: nodes [I, C, N, S] and their mask [C, N] to [I, C, S]."""

  def __init__(self, size: int, steps: int, **kwargs: Any):
    super().__init__(**kwargs)
    self.count = steps
    # One attribute for each: tf.train.Checkpoint does not look into a Keras layer's lists.
    for step in range(steps):
      setattr(self, f"step_{step}", ReasoningStep(size, name=f"step_{step}"))
    self.build((None, None, None, size))

  def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return (*input_shape[:2], input_shape[-1])

  @property
  def steps(self) -> list["ReasoningStep"]:
    return [getattr(self, f"step_{step}") for step in range(self.count)]

  def call(self, nodes: tf.Tensor, node_mask: tf.Tensor, training: bool = False) -> tf.Tensor:
    del training
    pictures, sentences, count, size = tf.unstack(tf.shape(nodes))
    x = tf.reshape(nodes, [pictures * sentences, count, size])
    real = tf.tile(node_mask, [pictures, 1])[:, None]  # [I C, 1, N]
    *all_but_last, last = self.steps
    for step in all_but_last:
      x = step(x, x, real)
    x = last(x[:, :1], x, real)  # Only x_0 is read, so only it is updated.
    return tf.reshape(x, [pictures, sentences, size])


class ReasoningStep(keras.layers.Layer):
  """One update of the graph.

      (W_q x_i + b_q) . (W_k x_j + b_k) = (M x_i + W_k^T b_q) . x_j + terms without j

  with M = W_k^T W_q. The softmax over j cancels terms that do not depend on j, so one product
  with M replaces the two with W_q and W_k, and there is no weight b_k.
  """

  def __init__(self, size: int, **kwargs: Any):
    super().__init__(**kwargs)
    self.query = self_attention.dense([None, None, size], size, "query")
    self.key_kernel = self.add_weight(
      shape=(size, size), initializer="glorot_uniform", name="key_kernel"
    )
    self.update = self_attention.dense([None, None, size], size, "update")
    self.built = True

  def call(self, queries: tf.Tensor, nodes: tf.Tensor, real: tf.Tensor) -> tf.Tensor:
    key = tf.convert_to_tensor(self.key_kernel)
    m = tf.matmul(tf.convert_to_tensor(self.query.kernel), key, transpose_b=True)
    shift = tf.linalg.matvec(key, tf.convert_to_tensor(self.query.bias))
    edges = tf.matmul(product.flat_matmul(queries, m) + shift, nodes, transpose_b=True)
    edges = masking.masked_softmax(edges, real)
    return tf.nn.relu(self.update(tf.matmul(edges, nodes)))


class Filtration(keras.layers.Layer):
  """SAF: nodes [I, C, N, S] and their mask [C, N] to [I, C, S]."""

  def __init__(self, size: int, **kwargs: Any):
    super().__init__(**kwargs)
    bound = math.sqrt(6 / (size + 1))
    self.kernel = self.add_weight(
      shape=(size,), initializer=keras.initializers.RandomUniform(-bound, bound), name="kernel"
    )
    self.bias = self.add_weight(shape=(), initializer="zeros", name="bias")
    self.norm = batch_norm.BatchNorm(1, name="norm")
    self.build((None, None, None, size))

  def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return (*input_shape[:2], input_shape[-1])

  def call(self, nodes: tf.Tensor, node_mask: tf.Tensor, training: bool = False) -> tf.Tensor:
    kernel = tf.convert_to_tensor(self.kernel)[:, tf.newaxis]
    h = product.flat_matmul(nodes, kernel)[..., 0] + self.bias  # [I, C, N]
    # The released loader sorts a batch by length, longest first.
    lengths = tf.reduce_sum(tf.cast(node_mask, tf.int32), 1)
    order = tf.argsort(lengths, direction="DESCENDING", stable=True)
    h = self.norm.over_captions(h, node_mask, order, training)
    beta = normalize.l1n(tf.sigmoid(h) * tf.cast(node_mask, h.dtype)[None])
    return normalize.l2n(tf.einsum("icn,icns->ics", beta, nodes))
