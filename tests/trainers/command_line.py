"""Runs the project's programs as a user does, and reads what they print."""

import json
import subprocess
import sys
from typing import Any


def run(module: str, *flags: str) -> subprocess.CompletedProcess:
  return subprocess.run([sys.executable, "-m", module, *flags], capture_output=True, text=True)


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
