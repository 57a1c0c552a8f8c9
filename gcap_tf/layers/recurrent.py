"""An LSTM cell in plain matrix products, and the loop that unrolls a cell over words.

    [i; f; g; o] = W x + U [s; h] + b
    c' = sigmoid(f) c + sigmoid(i) tanh(g)      h' = sigmoid(o) tanh(c')

Inputs x that are known before the loop (words, the picture) have kernels of their own, so
that they are multiplied for all steps at once; inputs s that only the loop knows (a
context, another cell's state) share one kernel with h, so that a step is one product.
Gate order and start values are PyTorch's: i, f, g, o, all U(±1/sqrt(H)), no forget bias.
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from gcap_tf.layers import dropout, linear, product


class LSTMCell(keras.layers.Layer):
  """One step of an LSTM.

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
    self.built = True

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

  def product(self, known: tf.Tensor | float = 0.0) -> "Product":
    """What `unroll` needs to multiply by this cell's kernel; `known` leads with [T, B]."""
    return self.step_kernel, known + self.bias


def activate(gates: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """New h and c from pre-activations [..., 4H] in the order i, f, g, o."""
  i, f, g, o = tf.split(gates, 4, axis=-1)
  c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
  return tf.sigmoid(o) * tf.tanh(c), c


Product = tuple[tf.Tensor, tf.Tensor]  # A kernel [inputs, outputs] and what is added.
Multiply = Callable[[str, tf.Tensor], tf.Tensor]


def multiply(kernels: dict[str, Callable[[tf.Tensor], tf.Tensor]], added: Any) -> Multiply:
  """`(name, x) -> kernels[name](x) + added[name]`, for a step outside of `unroll`."""
  return lambda name, x: kernels[name](x) + added[name]


def spread(bias: tf.Tensor, known: tf.Tensor, copies: int = 1) -> tf.Tensor:
  """A bias for every step and row of `known` [T, B, ...]: [T, B * copies, outputs]."""
  shape = tf.shape(known)
  return tf.broadcast_to(tf.convert_to_tensor(bias), [shape[0], shape[1] * copies, bias.shape[0]])


def unroll(
  step: Callable[[Any, Any, Multiply], tuple[Any, tuple[tf.Tensor, ...]]],
  inputs: Any,
  state: Any,
  outputs: int,
  products: dict[str, Product] | None = None,
) -> tuple[tf.Tensor, ...]:
  """Runs `step(state, inputs[t], multiply) -> state, outputs` for every t.

  Left to itself, a loop adds x_tᵀ dy_t to a kernel's gradient at every step: skinny
  products, and a pass over the whole kernel for each. Kernels given as `products` are
  constants within the loop; their gradient is Σ_t x_tᵀ dy_t, one product after it, where
  dy is the gradient of what `multiply` adds.

  Args:
    step: one step; its outputs are float32. It may `multiply(name, x)` once per name, which
      is x [rows, in] @ kernel + added[t] of that product.
    inputs: tensors that lead with T.
    state: structure of tensors before the first step.
    outputs: how many tensors a step gives out.
    products: name -> kernel and what is added, [T, rows, outputs].

  Returns:
    The outputs of all steps, each leading with T.
  """
  late = {name: _LateGradient(kernel) for name, (kernel, _) in (products or {}).items()}
  added = {name: late[name].prepare(rows) for name, (_, rows) in (products or {}).items()}
  length = tf.shape(tf.nest.flatten((inputs, added))[0])[0]
  sources = tf.nest.map_structure(
    lambda x: tf.TensorArray(x.dtype, length, element_shape=x.shape[1:]).unstack(x),
    (inputs, added),
  )
  sinks = tuple(tf.TensorArray(tf.float32, length) for _ in range(outputs + len(late)))

  def body(t, state, sinks):
    now, added = tf.nest.map_structure(lambda source: source.read(t), sources)
    factors: dict[str, tf.Tensor] = {}

    def multiply(name, x):
      factors[name] = tf.stop_gradient(x)
      return late[name].multiply(x) + added[name]

    new, given = step(state, now, multiply)
    new = tf.nest.map_structure(lambda x, old: tf.ensure_shape(x, old.shape), new, state)
    given = (*given, *(factors[name] for name in late))
    return t + 1, new, tuple(sink.write(t, x) for sink, x in zip(sinks, given, strict=True))

  _, _, sinks = tf.while_loop(lambda t, *_: t < length, body, (0, state, sinks))
  stacked = tuple(sink.stack() for sink in sinks)
  for gradient, factors in zip(late.values(), stacked[outputs:], strict=True):
    gradient.finish(factors)
  return stacked[:outputs]


class _LateGradient:
  """A kernel that is a constant to the loop, and its gradient by way of what is added."""

  def __init__(self, kernel: tf.Tensor):
    self._kernel = tf.convert_to_tensor(kernel)
    self.multiply = product.with_constant(self._kernel)
    self._factors: tf.Tensor | None = None

  def prepare(self, added: tf.Tensor) -> tf.Tensor:
    """`added` as it is; backwards, the kernel's gradient hangs on it."""

    @tf.custom_gradient
    def identity(kernel, added):
      def gradient(upstream):
        inputs, outputs = kernel.shape
        factors = tf.reshape(self._factors, [-1, inputs])
        return (
          tf.matmul(factors, tf.reshape(upstream, [-1, outputs]), transpose_a=True),
          upstream,
        )

      return tf.identity(added), gradient

    return identity(self._kernel, added)

  def finish(self, factors: tf.Tensor) -> None:
    """Tells what the kernel was multiplied with: [T, rows, inputs]."""
    self._factors = factors


def stepwise_dropout(x: tf.Tensor, rate: float, seed: tf.Tensor | None, salt: int) -> tf.Tensor:
  """Dropout over all steps at once, equal to `dropout(x[t], rate, derive(seed, t), salt)`.

  A loop that draws its masks step by step (decoding) and a loop that is fed all steps
  (teacher forcing) thus see the same noise under the same seed.

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
  """PyTorch keeps two biases where one suffices; their sum is what starts here."""

  def __init__(self, part: keras.initializers.Initializer):
    self.part = part

  def __call__(self, shape, dtype=None):
    first, second = self.part((2, *shape), dtype)
    return first + second
