import time

from benchmarks import timing


def test_runs_take_turns_after_a_warm_up():
  order = []
  runs = {"first": lambda: order.append("a"), "second": lambda: order.append("b")}
  timing.median_seconds(runs, 2)
  assert "".join(order) == "ababab"


def test_the_median_ignores_one_slow_call():
  pauses = iter([0.0, 0.0, 1.0, 0.0])  # the warm-up and three timed calls
  seconds = timing.median_seconds({"run": lambda: time.sleep(next(pauses))}, 3)
  assert seconds["run"] < 0.9


def test_the_rate_of_a_matrix_product_is_plausible():
  assert 1e7 < timing.matrix_product_rate(128) < 1e14
