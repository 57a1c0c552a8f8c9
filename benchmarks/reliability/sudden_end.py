"""SIGKILL for this process at a moment of its own: for programs that `preloaded` starts.

    before = "from benchmarks.reliability import sudden_end; sudden_end.after(0.8)"

A timer of the kernel counts the processor seconds of the whole process, so moments do not shift on
a busy machine, and nobody has to watch the process.
"""

import ctypes
import functools
import importlib
import os
import signal
import time

_SIGEV_SIGNAL = 0


class _Event(ctypes.Structure):
  """`struct sigevent` of Linux."""

  _fields_ = (
    ("value", ctypes.c_void_p),
    ("signal", ctypes.c_int),
    ("notify", ctypes.c_int),
    ("rest", ctypes.c_char * 48),
  )


class _Setting(ctypes.Structure):
  """`struct itimerspec`."""

  _fields_ = tuple(
    (name, ctypes.c_long)
    for name in ("interval_seconds", "interval_nanoseconds", "seconds", "nanoseconds")
  )


def after(seconds: float) -> None:
  """Kills this process when it has used so many processor seconds more."""
  libc, timer = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p()
  event = _Event(signal=signal.SIGKILL, notify=_SIGEV_SIGNAL)
  clock = ctypes.c_int(time.CLOCK_PROCESS_CPUTIME_ID)
  nanoseconds = max(1, round(seconds * 1e9))  # 0 would stop the timer.
  setting = _Setting(0, 0, *divmod(nanoseconds, 10**9))
  for failed in (
    libc.timer_create(clock, ctypes.byref(event), ctypes.byref(timer)),
    libc.timer_settime(timer, 0, ctypes.byref(setting), None),
  ):
    if failed:
      raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def at_call(module: str, name: str, seconds: float, number: int = 1, ended: bool = False) -> None:
  """Kills this process so many processor seconds after a call of a function.

  Args:
    module, name: of the function, which its callers look up in its module.
    seconds: after the call begins.
    number: of the call; 1 is the first one.
    ended: counts the seconds from the end of the call.
  """
  home = importlib.import_module(module)
  function, calls = getattr(home, name), [0]

  @functools.wraps(function)
  def counted(*arguments, **options):
    calls[0] += 1
    if calls[0] == number and not ended:
      after(seconds)
    found = function(*arguments, **options)
    if calls[0] == number and ended:
      after(seconds)
    return found

  setattr(home, name, counted)
