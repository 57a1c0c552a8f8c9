"""Tests of benchmarks/reliability/disk_faults.py: its short form."""

import json
import subprocess
import sys

import pytest

from benchmarks.reliability import disk_faults


def test_a_packed_run_survives_every_fault():
  allowed = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=False)
  if allowed.returncode:
    pytest.skip("this system does not allow mounting a small disk")
  command = [sys.executable, "-m", "benchmarks.reliability.disk_faults", "--commands=pack_run"]
  done = subprocess.run(command, capture_output=True, text=True)
  assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
  found = json.loads(done.stdout.splitlines()[-1])["pack_run"]
  assert found["slow"] == found["clock"] == "ended well"
  assert "No space left" in found["full"] and "Read-only" in found["read_only"]


def test_what_is_lost_or_crashes_does_not_hold():
  assert disk_faults.held({"full": "error: no space", "slow": "ended well"})
  for text in (
    disk_faults._judged(1, "Traceback (most recent call last):"),
    disk_faults._judged(-11, ""),
    disk_faults._judged(1, "something"),
    "LOST what was there before",
    "error: no space, and again: NOT WHOLE ()",
  ):
    assert not disk_faults.held({"full": text})
  assert disk_faults._judged(1, "x\nerror: no space\n") == "error: no space"
