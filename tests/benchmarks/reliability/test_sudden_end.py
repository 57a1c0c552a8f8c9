"""Tests of benchmarks/reliability/sudden_end.py."""

import signal
import subprocess
import sys

_PROGRAM = """
import os, sys, time
from benchmarks.reliability import sudden_end
{setting}
for name in ("first", "second", "third"):
  print(os.path.basename(name), flush=True)
  end = time.process_time() + 0.3
  while time.process_time() < end:
    pass
  print("end of", name, flush=True)
"""


def printed(setting: str) -> list[str]:
  """What a program prints before SIGKILL ends it."""
  program = [sys.executable, "-c", _PROGRAM.format(setting=setting)]
  done = subprocess.run(program, capture_output=True, text=True)
  assert done.returncode == -signal.SIGKILL, done.stderr
  return done.stdout.splitlines()


def test_a_process_ends_when_it_has_used_its_seconds():
  assert printed("sudden_end.after(0.1)") == ["first"]
  assert printed("time.sleep(0.5); sudden_end.after(0.45)") == ["first", "end of first", "second"]


def test_a_process_ends_in_a_call_or_after_it():
  call = 'sudden_end.at_call("posixpath", "basename", 0.1, number=2)'
  assert printed(call) == ["first", "end of first", "second"]
  call = 'sudden_end.at_call("posixpath", "basename", 0.45, number=1, ended=True)'
  assert printed(call) == ["first", "end of first", "second"]


def test_a_process_ends_inside_a_long_call():
  setting = (
    "sudden_end.busy = lambda: [i * i for i in range(10**9)]\n"
    'sudden_end.at_call("benchmarks.reliability.sudden_end", "busy", 0.1)\n'
    "print('before', flush=True); sudden_end.busy(); print('after', flush=True)"
  )
  assert printed(setting) == ["before"]
