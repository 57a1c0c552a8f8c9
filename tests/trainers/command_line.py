"""Runs commands as a user does, and reads what they print."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

# Imports what takes long once, then runs every command in a child of its own.
_MANY = """
import contextlib, importlib, json, os, runpy, sys
for name in ("captioner_report", "matcher_report", "precomp_evaluation"):
  with contextlib.suppress(ImportError):  # A test sees only what its own programs need.
    importlib.import_module("gcap_tf.evaluation." + name)
for number, (module, *flags) in enumerate(json.load(sys.stdin)):
  child = os.fork()
  if not child:
    for stream, name in ((1, "out"), (2, "err")):
      os.dup2(os.open(f"{sys.argv[1]}/{number}.{name}", os.O_CREAT | os.O_WRONLY), stream)
    sys.argv = [module, *flags]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    os._exit(0)
  _, status = os.waitpid(child, 0)
  print(os.waitstatus_to_exitcode(status), flush=True)  # Else the next child prints it, too.
"""


def run(module: str, *flags: str) -> subprocess.CompletedProcess:
  return subprocess.run([sys.executable, "-m", module, *flags], capture_output=True, text=True)


def run_many(commands: Sequence[Sequence[str]], folder) -> list[subprocess.CompletedProcess]:
  """What `run` gives for each of (module, flag, ...), at the price of one start.

  Args:
    commands: of programs that end by themselves.
    folder: for what they print; made here.
  """
  folder.mkdir()
  done = subprocess.run(
    [sys.executable, "-c", _MANY, str(folder)],
    input=json.dumps([list(command) for command in commands]),
    capture_output=True,
    text=True,
  )
  assert done.returncode == 0, done.stderr[-2000:]
  codes = [int(line) for line in done.stdout.split()]
  return [
    subprocess.CompletedProcess(
      command,
      code,
      (folder / f"{number}.out").read_text(),
      (folder / f"{number}.err").read_text(),
    )
    for number, (command, code) in enumerate(zip(commands, codes, strict=True))
  ]


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
