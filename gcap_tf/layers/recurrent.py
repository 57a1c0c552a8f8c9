"""An LSTM cell in plain matrix products.

    [i; f; g; o] = W x + U [s; h] + b
    c' = sigmoid(f) c + sigmoid(i) tanh(g)      h' = sigmoid(o) tanh(c')

Inputs x that are known before the loop (words, the picture) have kernels of their own, so
that they are multiplied for all steps at once; inputs s that only the loop knows (a
context, another cell's state) share one kernel with h, so that a step is one product.
Gate order and start values are PyTorch's: i, f, g, o, all U(±1/sqrt(H)), no forget bias.
"""

from collections.abc import Callable, Sequence

import keras
import tensorflow as tf

from gcap_tf.layers import dropout, linear, product, unrolling


class LSTMCell(keras.layers.Layer):
  """One step of an LSTM.

  Why not `keras.layers.LSTMCell`: separate kernels for known inputs (measured speed, see
  `unrolling.py`) and PyTorch's start values (parity with published models).

  Args:
    units: H.
    inputs: sizes of the inputs known before the loop; `project(n, x)` takes the n-th.
    stepped: size of the inputs that only the loop knows.
  """

  def __init__(self, units: int, inputs: Sequence[int] = (), stepped: int = 0, **kwargs):
    super().__init__(**kwargs)
    self.units = units
    self.input_kernels = [
      self.add_weight(
        shape=(size, 4 * units), initializer=linear.uniform(units), name=f"input_kernel_{n}"
      )
      for n, size in enumerate(inputs)
    ]
    self.step_kernel = self.add_weight(
      shape=(stepped + units, 4 * units), initializer=linear.uniform(units), name="step_kernel"
    )
    self.bias = self.add_weight(
      shape=(4 * units,), initializer=_SumOfTwo(linear.uniform(units)), name="bias"
    )
    self.build((None, stepped + units))

  def compute_output_shape(self, input_shape):
    return (*input_shape[:-1], self.units)

  def project(self, n: int, x: tf.Tensor) -> tf.Tensor:
    """The n-th known input's share of the gates: [..., inputs[n]] -> [..., 4H]."""
    return self.projector(n)(x)

  def projector(self, n: int) -> Callable[[tf.Tensor], tf.Tensor]:
    """`project` of the n-th known input, for many x."""
    size = self.input_kernels[n].shape[0]
    multiply = product.with_kernel(self.input_kernels[n])

    def project(x):
      flat = multiply(tf.reshape(x, [-1, size]))
      return tf.reshape(flat, tf.concat([tf.shape(x)[:-1], [4 * self.units]], 0))

    return project

  def call(
    self, known: tf.Tensor | None, stepped: Sequence[tf.Tensor], h: tf.Tensor, c: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Advances by one step.

    Args:
      known: sum of the projections of the known inputs, [B, 4H], or None.
      stepped: inputs that only the loop knows, each [B, ...].
      h, c: [B, H].
    """
    gates = tf.matmul(tf.concat([*stepped, h], -1), self.step_kernel)
    gates = tf.nn.bias_add(gates, self.bias)
    return activate(gates if known is None else gates + known, c)

  def product(self, known: tf.Tensor | None = None, copies: int = 1) -> unrolling.Product:
    """The gates of a step as `unroll` computes them.

    Args:
      known: sum of the projections of the known inputs, [T, B, 4H], or None.
      copies: cells for each of the B sequences.
    """
    return unrolling.Product(self.step_kernel, self.bias, known, copies)


def activate(gates: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """New h and c from pre-activations [..., 4H] in the order i, f, g, o."""
  i, f, g, o = tf.split(gates, 4, axis=-1)
  c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
  return tf.sigmoid(o) * tf.tanh(c), c


def stepwise_dropout(x: tf.Tensor, rate: float, seed: tf.Tensor | None, salt: int) -> tf.Tensor:
  """Dropout over all steps at once, equal to `dropout(x[t], rate, derive(seed, t), salt)`.

  A loop that draws its masks step by step (decoding) and a loop that gets all steps at once
  (teacher forcing) see the same noise if they have the same seed.

  Args:
    x: leads with T.
    rate, seed, salt: as for `dropout.dropout`.
  """
  if seed is None or rate == 0.0:
    return x
  shape = tf.shape(x)
  masks = tf.map_fn(
    lambda t: dropout.dropout(tf.ones(shape[1:]), rate, dropout.derive(seed, t), salt),
    tf.range(shape[0]),
    fn_output_signature=tf.TensorSpec(x.shape[1:], tf.float32),
  )
  return x * masks


class _SumOfTwo(keras.initializers.Initializer):
  """PyTorch's LSTM has two biases; this one bias starts as their sum."""

  def __init__(self, part: keras.initializers.Initializer):
    self.part = part

  def __call__(self, shape, dtype=None):
    first, second = self.part((2, *shape), dtype)
    return first + second
