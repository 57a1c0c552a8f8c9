"""The localiser of cyclical training (Ma et al., ECCV 2020, arXiv:1906.00283).

    β_t = softmax_n(q_t · p_n)      q_t from word t alone, p_n the decoder attention's keys

Only training uses it: its gradient trains the keys and LSTMs that it shares with the decoder.
"""

from typing import Literal

import keras
import tensorflow as tf

from gcap_tf.layers import linear, masking


class Localizer(keras.layers.Layer):
  """Queries q from words: a linear map, an MLP, or a linear map of [word; h1].

  It buys one name for the three variants of the paper, each a `Dense` or two.
  """

  def __init__(self, kind: str, embedding_size: int, hidden_size: int, units: int, **kwargs):
    super().__init__(**kwargs)
    self.kind = kind
    inputs = embedding_size + (hidden_size if kind == "hidden" else 0)
    self.maps = [linear.dense(inputs, units, name=f"{self.name}_query")]
    if kind == "mlp":
      self.maps.append(linear.dense(units, units, name=f"{self.name}_query_2"))
    self.build((None, None, inputs))

  def compute_output_shape(self, input_shape):
    return (*input_shape[:-1], self.maps[-1].units)

  def call(self, words: tf.Tensor, h1: tf.Tensor | None = None) -> tf.Tensor:
    """[..., E] (and h1 [..., H]) -> [..., A]."""
    if self.kind == "hidden":
      if h1 is None:
        raise ValueError('localizer="hidden" needs h1 of the decoding pass')
      words = tf.concat([words, h1], -1)
    query = self.maps[0](words)
    return self.maps[1](tf.nn.relu(query)) if self.kind == "mlp" else query


def make(
  kind: Literal["none", "linear", "mlp", "hidden"],
  embedding_size: int,
  hidden_size: int,
  units: int,
) -> Localizer | None:
  """The localiser of this kind, or None."""
  if kind == "none":
    return None
  return Localizer(kind, embedding_size, hidden_size, units, name="localizer")


def localize(
  query: tf.Tensor, keys: tf.Tensor, values: tf.Tensor, mask: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """The regions that each word points at.

  Args:
    query: q, [T, B, A], B = I * n, picture-major.
    keys: p, [I, R, A].
    values: [I, R, H].
    mask: bool [I, R].

  Returns:
    Contexts [T, B, H] and attention β [T, B, R].
  """
  steps, rows, units = tf.shape(query)[0], tf.shape(query)[1], query.shape[-1]
  pictures = tf.shape(keys)[0]
  query = tf.reshape(query, [steps, pictures, -1, units])
  scores = tf.einsum("tina,ira->tinr", query, keys)
  beta = masking.masked_softmax(scores, mask[:, tf.newaxis])
  context = tf.einsum("tinr,irh->tinh", beta, values)
  shape = [steps, rows]
  return (
    tf.reshape(context, [*shape, values.shape[-1]]),
    tf.reshape(beta, [*shape, tf.shape(keys)[1]]),
  )
