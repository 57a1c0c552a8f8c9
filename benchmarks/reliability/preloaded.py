"""Starts programs as forks of a process that has imported TensorFlow: a start costs little.

A child is a process of its own, as if it had been started with `python -m MODULE`; it can be
killed at any moment. It must not outlive the `Starter`.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

_PROGRAM = """
import importlib, json, os, runpy, sys
for name in sys.argv[1:]:
  importlib.import_module(name)
for line in sys.stdin:
  request = json.loads(line)
  child = os.fork()
  if not child:
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for stream, name in ((1, "output"), (2, "errors")):
      os.dup2(os.open(request[name], os.O_CREAT | os.O_WRONLY | os.O_APPEND), stream)
    os.environ.update(request["environment"])
    module, *flags = request["command"]
    sys.argv = [module, *flags]
    exec(request["before"])
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    os._exit(0)
  print(child, flush=True)
  _, status, used = os.wait4(child, 0)
  print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, flush=True)
"""
# What every training program imports.
TRAINING = (
  *("tensorflow", "keras", "gcap_tf.training.loop", "gcap_tf.runs.run_folders"),
  "gcap_tf.data.prepared.pipeline",
)


class Child:
  """A running program; one at a time.

  Attributes:
    pid: its process.
    seconds: processor seconds that it has used; known when `wait` has returned.
  """

  def __init__(self, starter: subprocess.Popen):
    self._starter = starter
    self.pid = int(starter.stdout.readline())
    self._code: int | None = None
    self.seconds = 0.0

  def running(self) -> bool:
    """Whether it has not ended; a killed one has ended when `wait` returns."""
    if self._code is not None:
      return False
    try:
      with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
      return False

  def kill(self) -> None:
    if self._code is None:
      try:
        os.kill(self.pid, signal.SIGKILL)
      except ProcessLookupError:
        return

  def wait(self) -> int:
    """The exit code; negative for a signal."""
    if self._code is None:
      code, seconds = self._starter.stdout.readline().split()
      self._code, self.seconds = int(code), float(seconds)
    return self._code


class Starter:
  """A process that has imported modules and forks programs; also a context manager."""

  def __init__(self, modules: Sequence[str] = TRAINING):
    self._process = subprocess.Popen(
      [sys.executable, "-c", _PROGRAM, *modules],
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      stderr=subprocess.DEVNULL,
      text=True,
    )

  def start(
    self,
    command: Sequence[str],
    output: str = os.devnull,
    environment: Mapping[str, str] | None = None,
    before: str = "",
    errors: str = "",
  ) -> Child:
    """Starts (module, flag, ...).

    Args:
      command: what follows `python -m`.
      output: file that standard output and standard error are appended to.
      environment: variables of the child, besides those of this process.
      before: Python statements that the child runs first.
      errors: file for standard error, if not `output`.
    """
    request = {
      "command": list(command),
      "output": output,
      "errors": errors or output,
      "environment": dict(environment or {}),
      "before": before,
    }
    self._process.stdin.write(json.dumps(request) + "\n")
    self._process.stdin.flush()
    return Child(self._process)

  def run(self, command: Sequence[str], output: str = os.devnull, **options) -> int:
    """Starts a program and waits for its end."""
    return self.start(command, output, **options).wait()

  def close(self) -> None:
    self._process.stdin.close()
    self._process.wait()

  def __enter__(self) -> "Starter":
    return self

  def __exit__(self, *unused) -> None:
    self.close()
