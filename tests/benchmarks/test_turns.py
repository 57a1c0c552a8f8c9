import tensorflow as tf

from benchmarks import turns


def test_every_function_runs_on_every_input_and_once_before():
  calls = []

  def function(value):
    calls.append(value)
    return {"x": tf.constant(value)}

  seconds = turns.by_turns({"a": function, "b": function}, [1, 2])
  assert calls == [1, 1, 1, 1, 2, 2]
  assert [len(values) for values in seconds.values()] == [2, 2]
