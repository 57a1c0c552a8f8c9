"""Runs commands as a user does, and reads what they print."""

import atexit
import functools
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.reliability import preloaded

# What most commands import. None of them defines flags of a command.
_MODULES = (
  *preloaded.TRAINING,
  *("gcap_tf.evaluation.captioner_report", "gcap_tf.evaluation.matcher_report"),
  *("gcap_tf.evaluation.precomp_evaluation", "gcap_tf.recipes.catalog", "export.saved_model"),
  *("gcap_tf.data.prepared.prepare", "gcap_tf.vision.extraction.local"),
)


@functools.cache
def starter() -> preloaded.Starter:
  """Imports what takes long once; every command is then a process of its own."""
  found = preloaded.Starter(_MODULES)
  atexit.register(found.close)
  return found


def run(module: str, *flags: str) -> subprocess.CompletedProcess:
  """What `python -m module flag ..` does and prints, here and with this environment."""
  before = f"os.chdir({os.getcwd()!r}); os.environ.clear(); os.environ.update({dict(os.environ)!r})"
  with tempfile.TemporaryDirectory() as folder:
    out, err = pathlib.Path(folder, "out"), pathlib.Path(folder, "err")
    code = starter().run([module, *flags], str(out), before=before, errors=str(err))
    return subprocess.CompletedProcess([module, *flags], code, out.read_text(), err.read_text())


def run_many(commands: Iterable[Sequence[str]]) -> list[subprocess.CompletedProcess]:
  """`run` of each of (module, flag, ...)."""
  return [run(*command) for command in commands]


def figures(done: subprocess.CompletedProcess) -> dict[str, Any]:
  """The JSON object of the last line; fails with what the program said otherwise."""
  assert done.returncode == 0, done.stderr[-2000:]
  return json.loads(done.stdout.splitlines()[-1])


def error(done: subprocess.CompletedProcess) -> str:
  """The one line of a program that refused; fails on a traceback."""
  assert done.returncode == 1, done.stdout[-500:]
  assert "Traceback" not in done.stderr, done.stderr[-2000:]
  lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
  assert len(lines) == 1, done.stderr[-2000:]
  return lines[0]
