"""Hides the lines that TensorFlow prints when it starts (CUDA, oneDNN, CPU features).

`TF_CPP_MIN_LOG_LEVEL` hides most of them. A few are written to file descriptor 2 while
TensorFlow is imported, before that variable is read: these go through a filter.
"""

import contextlib
import importlib.abc
import importlib.machinery
import os
import re
import sys
from collections.abc import Iterator

# A line of TensorFlow's C++ log: "I0000 00:00:1794946026.355850   14811 port.cc:153] ...".
_NOISE = re.compile(
  rb"[IWE]0000 00:00:[\d.]+\s+\d+ (port|cudart_stub|cuda_\w+|cpu_feature_guard|util)\.cc:"
  rb"|[IWE]0000 00:00:[\d.]+\s+\d+ .*(Unable to register cu|TF-TRT|computation_placer)"
  rb"|WARNING: All log messages before absl::InitializeLog"
  rb"|To enable the following instructions: "
)


# Worker processes of a quiet command find this in their environment (`trainers/__init__.py`).
INHERITED = "GCAP_QUIET"


def silence_tensorflow() -> None:
  """Hides start-up lines of TensorFlow, which must not have been imported yet.

  Worker processes that are started afterwards hide theirs, too.
  """
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
  os.environ[INHERITED] = "1"
  if "tensorflow" not in sys.modules:
    sys.meta_path.insert(0, _TensorFlowFinder())


class _TensorFlowFinder(importlib.abc.MetaPathFinder):
  """Filters standard error during the import of `tensorflow`, and of nothing else."""

  def find_spec(self, fullname, path=None, target=None):
    if fullname != "tensorflow":
      return None
    sys.meta_path.remove(self)
    spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
    if spec and spec.loader:
      execute = spec.loader.exec_module

      def execute_quietly(module):
        with filtered_stderr():
          execute(module)

      spec.loader.exec_module = execute_quietly
    return spec


@contextlib.contextmanager
def filtered_stderr() -> Iterator[None]:
  """Drops TensorFlow's start-up lines from file descriptor 2; all other lines pass.

  The filter is a process of its own, so that the last words of a crash pass too.
  """
  sys.stderr.flush()
  reader, writer = os.pipe()
  child = os.fork()
  if child == 0:
    os.close(writer)
    _pass_on(reader)
    os._exit(0)
  os.close(reader)
  original = os.dup(2)
  os.dup2(writer, 2)
  os.close(writer)
  try:
    yield
  finally:
    os.dup2(original, 2)
    os.close(original)
    os.waitpid(child, 0)


def _pass_on(reader: int) -> None:
  with os.fdopen(reader, "rb") as lines:
    for line in lines:
      if not _NOISE.match(line):
        os.write(2, line)
