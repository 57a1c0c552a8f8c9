"""Faults during training: each is reported in one line, and nothing that was learned is lost.

signals          SIGTERM or Ctrl-C: save after this step and end; Ctrl-C again: end at once
not finite       the step is not applied; its ids are saved
slow data        a message, and the run continues
full disk        the previous checkpoint stays whole
lost worker      the others end and report the last saved step
"""

import contextlib
import errno
import pathlib
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from gcap_tf import errors, files

SLOW_READ_SECONDS = 30.0
MOST_SKIPPED_IN_A_ROW = 20
_FULL = "No space left|File too large|Disk quota exceeded|ENOSPC"
_LOST = (
  tf.errors.UnavailableError,
  tf.errors.AbortedError,
  tf.errors.DeadlineExceededError,
  tf.errors.CancelledError,
)


class StopRequest:
  """Turns SIGTERM and the first Ctrl-C into a request to save and end after this step.

  Attributes:
    signal: the signal that was received, or None.
  """

  def __init__(self):
    self.signal: signal.Signals | None = None
    self._before: dict[signal.Signals, Any] = {}

  def __enter__(self) -> "StopRequest":
    # Only the main thread may set handlers; in another one, signals stay as they are.
    with contextlib.suppress(ValueError):
      for number in (signal.SIGTERM, signal.SIGINT):
        self._before[number] = signal.signal(number, self._receive)
    return self

  def _receive(self, number: int, _: Any) -> None:
    if self.signal is signal.SIGINT and number == signal.SIGINT:
      raise KeyboardInterrupt
    self.signal = signal.Signals(number)
    if self.signal is signal.SIGINT:
      print("\nsaving after this step; Ctrl-C again ends at once", file=sys.stderr)

  def __exit__(self, *_: Any) -> None:
    for number, handler in self._before.items():
      signal.signal(number, handler)


class SlowReadMonitor:
  """Prints a message if a batch takes long to arrive; watches while its context is open.

  Attributes:
    waited: total seconds spent waiting for data.
  """

  def __init__(self, seconds: float = SLOW_READ_SECONDS):
    self.seconds, self.waited = seconds, 0.0
    self._wait: tuple[int, float] | None = None  # Step, and when its wait began.
    self._closed = threading.Event()
    self._watch = threading.Thread(target=self._report_slow, name="slow reads", daemon=True)

  def __enter__(self) -> "SlowReadMonitor":
    self._watch.start()
    return self

  def __exit__(self, *_: Any) -> None:
    self._closed.set()

  @contextlib.contextmanager
  def waiting(self, step: int) -> Iterator[None]:
    start = time.monotonic()
    self._wait = (step, start)
    try:
      yield
    finally:
      self._wait = None
      spent = time.monotonic() - start
      self.waited += spent
      if spent > self.seconds:
        print(f"step {step:,}: its data arrived after {spent:.1f} s", file=sys.stderr)

  def _report_slow(self) -> None:
    reported = None
    while not self._closed.wait(min(self.seconds / 4, 1.0)):
      wait = self._wait
      if wait is not None and wait != reported and time.monotonic() - wait[1] > self.seconds:
        reported = wait
        print(
          f"step {wait[0]:,}: still waiting for data after {self.seconds:g} s; is the disk or "
          "network of the prepared folder slow? The run continues when the data arrives",
          file=sys.stderr,
        )


def save_batch_ids(
  folder: pathlib.Path, step: int, batch: Any, values: dict[str, float]
) -> tuple[pathlib.Path, str]:
  """Writes the ids of a batch without a finite update; returns the file and the bad values.

  Args:
    folder: of the run.
    step: 0-based.
    batch: as the strategy got it; the ids of this worker's replicas are written.
    values: losses and gradient norm of the step.
  """
  path = folder / f"non_finite_step_{step}.json"
  shown = {name: str(value) for name, value in values.items()}
  strategy = tf.distribute.get_strategy()
  ids = {
    key: [
      item.decode()
      for part in strategy.experimental_local_results(batch[key])
      for item in np.ravel(part.numpy())
    ]
    for key in ("image_id", "caption_id")
    if key in batch
  }
  files.write_json(path, {"step": step, "values": shown, **ids})
  return path, ", ".join(name for name, value in shown.items() if value in ("nan", "inf", "-inf"))


@contextlib.contextmanager
def report_faults(folder: pathlib.Path, newest: Any) -> Iterator[None]:
  """Turns a full disk or a lost worker into a `UserError`.

  Args:
    folder: of the run.
    newest: () -> the step of the newest checkpoint, 0 for none.
  """
  try:
    yield
  except (OSError, tf.errors.OpError) as error:
    message = getattr(error, "message", None) or str(error)
    stands = f"the run stands at step {newest():,}"
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or re.search(
      _FULL, message
    ):
      raise errors.UserError(
        f"{folder}: the disk is full; {stands}. Make room and run the same command again"
      ) from None
    if isinstance(error, _LOST) and _is_collective(message):
      raise errors.UserError(
        f"another worker of this job was lost; {stands}. Start the same command again, on as "
        "many workers or on fewer (change TF_CONFIG)"
      ) from None
    raise


def _is_collective(message: str) -> bool:
  return isinstance(tf.distribute.get_strategy(), tf.distribute.MultiWorkerMirroredStrategy) or (
    "ollective" in message
  )
