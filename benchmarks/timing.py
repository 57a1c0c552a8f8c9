"""Times of runs that take turns, and the matrix-product rate of the machine."""

import statistics
import time
from collections.abc import Callable, Mapping

import tensorflow as tf

Runs = Mapping[str, Callable[[], object]]


def median_seconds(runs: Runs, repeats: int) -> dict[str, float]:
  """Returns the median seconds of each run.

  The runs take turns after one warm-up each, so that a busy moment of the machine slows
  all of them.

  Args:
    runs: name -> function to time.
    repeats: timed calls of each function.
  """
  seconds = {name: [] for name in runs}
  for run in runs.values():
    run()
  for _ in range(repeats):
    for name, run in runs.items():
      started = time.perf_counter()
      run()
      seconds[name].append(time.perf_counter() - started)
  return {name: statistics.median(values) for name, values in seconds.items()}


def matrix_product_rate(size: int = 2048) -> float:
  """Returns the FLOP/s of a float32 product of two `size` x `size` matrices, the best of five."""
  a = tf.random.stateless_normal([size, size], [0, 1])
  product = tf.function(lambda: tf.reduce_sum(tf.linalg.matmul(a, a)))
  product()
  seconds = []
  for _ in range(5):
    started = time.perf_counter()
    product().numpy()
    seconds.append(time.perf_counter() - started)
  return 2.0 * size**3 / min(seconds)
