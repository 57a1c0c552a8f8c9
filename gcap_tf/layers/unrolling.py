"""The loop of a recurrent cell over words, with its matrix products laid out for speed.

A step multiplies by the same few kernels for every word. Three measures make the loop fast,
and all of them live here, so that a cell reads as its equations:

- Inputs that are known before the loop (words, the picture) are multiplied for all steps at
  once; a step only adds its row of `Product.known`.
- Kernels are copied once into a layout that the CPU multiplies fast (`product.py`).
- A differentiated loop adds x_tᵀ dy_t to a kernel's gradient at every step: skinny products,
  and a pass over the whole kernel for each. Here kernels are constants within the loop, and
  their gradient Σ_t x_tᵀ dy_t is one product after it. dy is the gradient of what is added.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from gcap_tf.layers import product

# (name, x) -> x W + what is added, of the product with that name.
Multiply = Callable[[str, tf.Tensor], tf.Tensor]


@dataclasses.dataclass(frozen=True)
class Product:
  """x W + b + known, with x from the loop.

  Attributes:
    kernel: W, [inputs, outputs].
    bias: b, [outputs].
    known: what is known before the loop, [T, B, outputs], or None.
    copies: rows of x for each of the B sequences.
  """

  kernel: tf.Tensor
  bias: tf.Tensor
  known: tf.Tensor | None = None
  copies: int = 1

  def added(self, steps: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """b + known of every step and row: [T, B * copies, outputs]."""
    if self.known is not None:
      return self.known + self.bias
    bias = tf.convert_to_tensor(self.bias)
    return tf.broadcast_to(bias, [steps, rows * self.copies, bias.shape[0]])


def prepare(products: dict[str, Product]) -> Callable[[dict[str, tf.Tensor]], Multiply]:
  """Lays out kernels once, for a loop that the caller runs (decoding).

  Returns:
    `known -> multiply` of one step; `known[name]` is [B, outputs] or absent.
  """
  kernels = {name: product.with_kernel(entry.kernel) for name, entry in products.items()}

  def multiply_with(known: dict[str, tf.Tensor]) -> Multiply:
    added = {name: entry.bias for name, entry in products.items()}
    added |= {name: added[name] + rows for name, rows in known.items()}
    return lambda name, x: kernels[name](x) + added[name]

  return multiply_with


def unroll(
  step: Callable[[Any, Any, Multiply], tuple[Any, tuple[tf.Tensor, ...]]],
  inputs: Any,
  state: Any,
  outputs: int,
  products: dict[str, Product] | None = None,
) -> tuple[tf.Tensor, ...]:
  """Runs `step(state, inputs[t], multiply) -> state, outputs` for every t.

  Args:
    step: one step; its outputs are float32. It calls `multiply(name, x)` once for each product.
    inputs: tensors that lead with T.
    state: structure of tensors before the first step.
    outputs: how many tensors a step returns.
    products: by name; at least one of them has `known`, which gives T and B.

  Returns:
    The outputs of all steps, each leading with T.
  """
  products = products or {}
  late = {name: _LateGradient(entry.kernel) for name, entry in products.items()}
  added = _added_rows(products)
  added = {name: late[name].prepare(rows) for name, rows in added.items()}
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
    gradient.factors = factors
  return stacked[:outputs]


def _added_rows(products: dict[str, Product]) -> dict[str, tf.Tensor]:
  """What every product adds, by name: [T, rows, outputs]."""
  if not products:
    return {}
  known = next(entry.known for entry in products.values() if entry.known is not None)
  steps, rows = tf.unstack(tf.shape(known)[:2])
  return {name: entry.added(steps, rows) for name, entry in products.items()}


class _LateGradient:
  """A kernel that is constant within the loop; its gradient is taken after the loop.

  Attributes:
    factors: x of all steps, [T, rows, inputs]; set when the loop has run.
  """

  factors: tf.Tensor

  def __init__(self, kernel: tf.Tensor):
    self._kernel = tf.convert_to_tensor(kernel)
    self.multiply = product.with_constant(self._kernel)

  def prepare(self, added: tf.Tensor) -> tf.Tensor:
    """`added` itself; the backward pass also computes the kernel's gradient from it."""

    @tf.custom_gradient
    def identity(kernel, added):
      def gradient(upstream):
        inputs, outputs = kernel.shape
        factors = tf.reshape(self.factors, [-1, inputs])
        return (
          tf.matmul(factors, tf.reshape(upstream, [-1, outputs]), transpose_a=True),
          upstream,
        )

      return tf.identity(added), gradient

    return identity(self._kernel, added)
