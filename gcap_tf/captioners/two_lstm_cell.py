"""The cell of Up-Down and its family: two LSTMs with an attention between them.

    (h1, c1) = LSTM1([h2; v; x_t])            the attention LSTM: v the picture, x_t the last word
    α^k      = attend(h1, regions)            K branches of attention
    (h2^k, c2^k) = LSTM2([Σ_i α^k_i v_i; h1])      the language LSTM, one stream per branch

A cell gets `multiply(name, x)` = x W + b + known for the three products of a step. `known` is
the share of v and x_t in the gates of LSTM1, which `unrolling.py` adds for all words at once.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.layers import recurrent, unrolling

ATTENTION_LSTM = "attention_lstm"
ATTENTION_QUERY = "attention_query"
LANGUAGE_LSTM = "language_lstm"

# (query [B, H], multiply) -> `context` [B, K, H] and what else the attention returns.
Attend = Callable[[tf.Tensor, unrolling.Multiply], dict[str, tf.Tensor]]


@dataclasses.dataclass(frozen=True)
class TwoLSTMCell:
  """One step, for B sequences with h2 in one stream or in K streams.

  Attributes:
    hidden_size: H.
    feedback: LSTM1 sees h2 (Up-Down), or does not (GVD).
    query: h1 that the attention is asked with: of this step, or of the step before.
    streams: h2 of K branches: K streams, or one: that of the first branch, or the mean.
    branches: K.
  """

  hidden_size: int
  feedback: bool
  query: Literal["current", "previous"]
  streams: Literal["independent", "first", "mean"]
  branches: int

  def __call__(
    self, state: base.State, attend: Attend, multiply: unrolling.Multiply
  ) -> tuple[base.State, dict[str, tf.Tensor]]:
    """Advances by one word.

    Args:
      state: h1, c1 [B, H]; h2, c2 [B, streams, H].
      attend: looks at the regions.
      multiply: of this step.

    Returns:
      The state, and what `attend` returned with `hidden` [B, K, H] (h2 of every branch)
      and `query` [B, H] (h1).
    """
    before = state["h1"]
    inputs = [_mean(state["h2"]), before] if self.feedback else [before]
    h1, c1 = lstm(multiply, ATTENTION_LSTM, inputs, state["c1"])
    seen = attend(h1 if self.query == "current" else before, multiply)
    inputs = [seen["context"], h1[:, tf.newaxis], state["h2"]]
    h2, c2 = lstm(multiply, LANGUAGE_LSTM, inputs, state["c2"])
    state = {"h1": h1, "c1": c1, "h2": self._merge(h2), "c2": self._merge(c2)}
    return state, {**seen, "hidden": h2, "query": h1}

  def zero_state(self, rows: tf.Tensor, streams: int | None = None) -> base.State:
    """The state before the first word."""
    if streams is None:
      streams = self.branches if self.streams == "independent" else 1
    one = tf.zeros([rows, self.hidden_size])
    many = tf.zeros([rows, streams, self.hidden_size])
    return {"h1": one, "c1": one, "h2": many, "c2": many}

  def _merge(self, branches: tf.Tensor) -> tf.Tensor:
    """h2 or c2 of the next step: [B, K, H] -> [B, streams, H]."""
    if self.streams == "first":
      return branches[:, :1]
    if self.streams == "mean":
      return tf.reduce_mean(branches, 1, keepdims=True)
    return branches


def lstm(
  multiply: unrolling.Multiply, name: str, inputs: Sequence[tf.Tensor], c: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """h and c of LSTM `name`.

  Args:
    multiply: of this step.
    name: of the product that gives the gates.
    inputs: what only this step knows, its own h last: [B, H] each, or [B, K, H] each, where
      an axis of 1 stands for all K.
    c: [B, H], or [B, K or 1, H].
  """
  size = c.shape[-1]
  shape = [-1, *inputs[0].shape[1:-1], size]

  def fold(x):
    """Branches become rows of the batch: one product for all of them."""
    if x.shape[1:-1] != inputs[0].shape[1:-1]:
      x = tf.broadcast_to(x, tf.shape(inputs[0]))
    return tf.reshape(x, [-1, size]) if x.shape.rank > 2 else x

  gates = multiply(name, tf.concat([fold(x) for x in inputs], -1))
  h, c = recurrent.activate(gates, fold(c))
  return (tf.reshape(h, shape), tf.reshape(c, shape)) if len(shape) > 2 else (h, c)


def _mean(streams: tf.Tensor) -> tf.Tensor:
  """The mean of h2 over its streams: [B, streams, H] -> [B, H]."""
  return tf.squeeze(streams, 1) if streams.shape[1] == 1 else tf.reduce_mean(streams, 1)
