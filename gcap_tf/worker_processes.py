"""What every pool of worker processes needs."""

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Iterator

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
  """Processes started in the block multiply matrices with one thread.

  The pool uses the cores already; threads that wait for each other cost a third more.
  """
  before = {name: os.environ.get(name) for name in _THREADS}
  os.environ.update(dict.fromkeys(_THREADS, "1"))
  try:
    yield
  finally:
    for name, value in before.items():
      if value is None:
        del os.environ[name]
      else:
        os.environ[name] = value


def die_with_parent() -> None:
  """Ends this worker process when its parent ends.

  A killed parent cannot stop its workers, which would go on writing while its successor runs.
  """
  threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
  multiprocessing.parent_process().join()
  os._exit(1)
