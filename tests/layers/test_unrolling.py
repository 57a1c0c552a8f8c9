import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.layers import unrolling


def test_unroll_sees_every_step_in_order():
  inputs = tf.constant([[1.0], [2.0], [3.0]])

  def step(state, x, _):
    total = state["total"] * 10.0 + x
    return {"total": total}, (total, x * 2.0)

  sums, doubles = unrolling.unroll(step, inputs, {"total": tf.zeros([1])}, 2)
  np.testing.assert_array_equal(sums, [[1.0], [12.0], [123.0]])
  np.testing.assert_array_equal(doubles, [[2.0], [4.0], [6.0]])


def test_unroll_takes_several_inputs_and_an_unknown_length():
  @tf.function(input_signature=[tf.TensorSpec([None, 2])])
  def run(x):
    step = lambda state, pair, _: (state + pair[0], (state * pair[1],))  # noqa: E731
    return unrolling.unroll(step, (x, 2.0 * x), tf.ones([2]), 1)[0]

  np.testing.assert_array_equal(run(tf.ones([2, 2])), [[2.0, 2.0], [4.0, 4.0]])
  assert run(tf.ones([5, 2])).shape == (5, 2)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_a_kernels_gradient_after_the_loop_equals_that_within_it(graph):
  rng = np.random.default_rng(0)
  kernel = tf.Variable(rng.normal(size=(3, 3)), dtype=tf.float32)
  added = tf.Variable(rng.normal(size=(4, 2, 3)), dtype=tf.float32)
  bias = tf.Variable(rng.normal(size=3), dtype=tf.float32)
  start = tf.Variable(rng.normal(size=(2, 3)), dtype=tf.float32)
  weights = tf.constant(rng.normal(size=(4, 2, 3)), tf.float32)

  def late():
    def step(x, _, multiply):
      x = tf.tanh(multiply("w", x))
      return x, (x,)

    (xs,) = unrolling.unroll(
      step, (), start + 0.0, 1, {"w": unrolling.Product(kernel, bias, added + 0.0)}
    )
    return tf.reduce_sum(xs * weights)

  def plain():
    x, total = start + 0.0, 0.0
    for t in range(4):
      x = tf.tanh(tf.matmul(x, kernel) + bias + added[t])
      total += tf.reduce_sum(x * weights[t])
    return total

  def gradients(function):
    with tf.GradientTape() as tape:
      value = function()
    return [value, *map(tf.convert_to_tensor, tape.gradient(value, [kernel, bias, added, start]))]

  run = tf.function(gradients) if graph else gradients
  for found, expected in zip(run(late), gradients(plain), strict=True):
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_product_without_known_inputs_serves_all_copies_of_a_sequence():
  kernel, bias = tf.eye(2), tf.constant([1.0, 2.0])
  products = {
    "one": unrolling.Product(kernel, bias, known=tf.ones([3, 2, 2])),
    "two": unrolling.Product(2.0 * kernel, bias, copies=2),
  }

  def step(state, _, multiply):
    one = multiply("one", state)
    return state, (one, multiply("two", tf.repeat(state, 2, axis=0)))

  one, two = unrolling.unroll(step, (), tf.ones([2, 2]), 2, products)
  np.testing.assert_array_equal(one, np.tile([3.0, 4.0], [3, 2, 1]))
  np.testing.assert_array_equal(two, np.tile([3.0, 4.0], [3, 4, 1]))


def test_a_prepared_product_adds_the_bias_and_what_the_step_knows():
  kernel, bias = tf.constant([[1.0, 2.0]]), tf.constant([10.0, 20.0])
  multiply_with = unrolling.prepare({"w": unrolling.Product(kernel, bias)})
  x = tf.constant([[3.0]])
  np.testing.assert_array_equal(multiply_with({})("w", x), [[13.0, 26.0]])
  known = {"w": tf.constant([[100.0, 200.0]])}
  np.testing.assert_array_equal(multiply_with(known)("w", x), [[113.0, 226.0]])
