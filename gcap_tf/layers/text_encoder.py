"""Embeds words in the joint space (Zhou et al., POS-SCAN, CVPR 2020, Eq. 2 and 3).

    x_t = W_e y_t;   e_t = l2n((h_forward_t + h_backward_t) / 2)

or e_t = l2n(h_forward_t). The backward direction starts at the last real word.
"""

from typing import Any

import keras
import tensorflow as tf

from gcap_tf.layers import dropout, gru, normalize

EMBEDDING_SALT = 101


class TextEncoder(keras.layers.Layer):
  """[C, T] tokens to [C, T, J]; padding words become zero vectors.

  Padding must be on the right; its length does not change the result. The layer looks up
  packed words only, so it holds the table itself instead of a `keras.layers.Embedding`.

  Attributes:
    embedding: [V, E] table. Row 0 is an ordinary row unless `frozen_padding`. No real
      word has id 0, so the row only matters if a caption holds id 0 inside its mask.
  """

  def __init__(
    self,
    vocabulary_size: int,
    word_size: int,
    joint_size: int,
    bidirectional: bool = True,
    normalise: bool = True,
    dropout_rate: float = 0.0,
    frozen_padding: bool = False,
    **kwargs: Any,
  ):
    super().__init__(**kwargs)
    self.normalise, self.dropout_rate, self.frozen_padding = (
      normalise,
      dropout_rate,
      frozen_padding,
    )
    self.embedding = self.add_weight(
      shape=(vocabulary_size, word_size),
      initializer=keras.initializers.RandomUniform(-0.1, 0.1),
      name="embedding",
    )
    self.forward_gru = gru.PackedGRU(word_size, joint_size, name="forward_gru")
    self.backward_gru = (
      gru.PackedGRU(word_size, joint_size, name="backward_gru") if bidirectional else None
    )
    self.joint_size = joint_size
    self.build((None, None))

  def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return (*input_shape, self.joint_size)

  def call(
    self, tokens: tf.Tensor, token_mask: tf.Tensor, seed: tf.Tensor | None = None
  ) -> tf.Tensor:
    packing = gru.pack(token_mask)
    ids = tf.gather_nd(tokens, packing.index)
    x = tf.gather(tf.convert_to_tensor(self.embedding), ids)  # [W, E]
    if self.frozen_padding:
      x = tf.where(ids[:, None] > 0, x, tf.zeros_like(x))
    x = dropout.dropout(x, self.dropout_rate, seed, EMBEDDING_SALT)
    h = self.forward_gru(x, packing.sizes)  # [W, J]
    if self.backward_gru is not None:
      mirrored = self.backward_gru(gru.mirror(x, packing.reversed_row), packing.sizes)
      h = (h + gru.mirror(mirrored, packing.reversed_row)) / 2
    h = normalize.l2n(h) if self.normalise else h
    return tf.scatter_nd(packing.index, h, tf.concat([tf.shape(tokens), [h.shape[-1]]], 0))
