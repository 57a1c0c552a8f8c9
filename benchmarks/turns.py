"""Times several functions by turns on the same inputs."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf


def by_turns(
  functions: Mapping[str, Callable[[Any], Any]], inputs: Sequence[Any]
) -> dict[str, list[float]]:
  """Seconds of each function on each input; the first round, which traces, does not count."""
  seconds: dict[str, list[float]] = {name: [] for name in functions}
  for function in functions.values():
    _run(function, inputs[0])
  for value in inputs:
    for name, function in functions.items():
      start = time.perf_counter()
      _run(function, value)
      seconds[name].append(time.perf_counter() - start)
  return seconds


def _run(function: Callable[[Any], Any], value: Any) -> None:
  """Waits for every result."""
  tf.nest.map_structure(lambda found: found.numpy(), function(value))
