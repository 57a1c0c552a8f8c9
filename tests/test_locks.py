"""Tests of gcap_tf/locks.py."""

import os
import signal
import subprocess
import sys

import pytest

from gcap_tf import errors, locks

_HOLD = """
import sys, time
from gcap_tf import locks
with locks.hold(sys.argv[1]):
  print("held", flush=True)
  time.sleep(60)
"""


def _holder(folder) -> subprocess.Popen:
  program = subprocess.Popen(
    [sys.executable, "-c", _HOLD, str(folder)], stdout=subprocess.PIPE, text=True
  )
  assert program.stdout.readline() == "held\n"
  return program


def test_a_second_program_is_refused_and_a_killed_one_holds_nothing(tmp_path):
  first = _holder(tmp_path / "run")
  try:
    with (
      pytest.raises(errors.UserError, match=rf"another program \(process {first.pid} on "),
      locks.hold(tmp_path / "run"),
    ):
      pass
  finally:
    first.send_signal(signal.SIGKILL)
    first.wait()
  assert locks.path_of(tmp_path / "run").exists()  # The file stayed, the lock did not.
  with locks.hold(tmp_path / "run"):
    pass
  assert not list(tmp_path.iterdir())


def test_a_lock_is_refused_within_one_program_too(tmp_path):
  with (
    locks.hold(tmp_path / "run"),
    pytest.raises(errors.UserError, match="being written by another program"),
    locks.hold(tmp_path / "run"),
  ):
    pass


def test_folders_made_for_a_lock_are_removed_unless_they_are_used(tmp_path):
  with locks.hold(tmp_path / "a" / "b" / "run"):
    assert (tmp_path / "a" / "b").is_dir()
  assert not (tmp_path / "a").exists()
  with locks.hold(tmp_path / "a" / "b" / "run"):
    (tmp_path / "a" / "b" / "run").mkdir()
  assert (tmp_path / "a" / "b" / "run").is_dir()


def test_a_forked_child_does_not_hold_the_lock_longer_than_its_parent(tmp_path):
  reader, writer = os.pipe()
  with locks.hold(tmp_path / "run"):
    child = os.fork()
    if not child:
      os.close(writer)
      os.read(reader, 1)  # Lives until the parent closes the pipe.
      os._exit(0)
  with locks.hold(tmp_path / "run"):
    pass
  os.close(writer)
  os.waitpid(child, 0)
  os.close(reader)


def test_a_broken_lock_file_still_names_the_folder(tmp_path):
  first = _holder(tmp_path / "run")
  try:
    locks.path_of(tmp_path / "run").write_text("{")
    with (
      pytest.raises(errors.UserError, match="run is being written by another program; wait"),
      locks.hold(tmp_path / "run"),
    ):
      pass
  finally:
    first.kill()
    first.wait()
