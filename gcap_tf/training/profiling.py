"""A trace of a few steps, for TensorBoard's profiler."""

import contextlib
import pathlib
from collections.abc import Iterator

import tensorflow as tf

# The first steps compile; later ones show what a step costs.
FIRST, COUNT = 5, 10


class Trace:
  """Traces steps FIRST to FIRST + COUNT of this process.

  Args:
    wanted: False traces nothing.
    folder: of TensorBoard's files.
  """

  def __init__(self, wanted: bool, folder: pathlib.Path):
    self.folder = folder
    self._seen, self._ends_at = 0, FIRST + COUNT if wanted else 0
    self._running = False

  @contextlib.contextmanager
  def step(self, number: int) -> Iterator[None]:
    """Around each step; `number` names it in the trace."""
    if FIRST <= self._seen < self._ends_at and not self._running:
      tf.profiler.experimental.start(str(self.folder))
      self._running = True
    self._seen += 1
    if not self._running:
      yield
      return
    with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
      yield
    if self._seen >= self._ends_at:
      self.close()

  def close(self) -> None:
    """Writes the trace, if one is being taken."""
    if self._running:
      self._running = False
      tf.profiler.experimental.stop()
      print(f"profile: tensorboard --logdir={self.folder}")


@contextlib.contextmanager
def trace(wanted: bool, folder: pathlib.Path) -> Iterator[Trace]:
  """A `Trace` that is written when the block ends at the latest."""
  taken = Trace(wanted, folder)
  try:
    yield taken
  finally:
    taken.close()
