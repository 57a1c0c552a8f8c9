"""Tests of gcap_tf/errors.py: how programs end."""
# bazel: data = ["//gcap_tf:errors"]

import subprocess
import sys

import pytest

PROGRAM = """
from gcap_tf import errors
def main(argv):
  {body}
errors.run(main)
"""


def run(body: str, *arguments: str) -> subprocess.CompletedProcess:
  return subprocess.run(
    [sys.executable, "-c", PROGRAM.format(body=body), *arguments], capture_output=True, text=True
  )


@pytest.mark.parametrize(
  ("body", "code", "line"),
  [
    ("raise errors.UserError('no such\\n  thing')", 1, "error: no such thing"),
    ("open('nowhere/file')", 1, "error: [Errno 2] No such file or directory: 'nowhere/file'"),
    ("raise KeyboardInterrupt", 130, "interrupted"),
  ],
)
def test_a_user_error_is_one_line(body, code, line):
  done = run(body)
  assert done.returncode == code
  assert done.stderr.strip() == line


def test_a_stray_argument_is_refused():
  done = run("return 0", "train")
  assert done.returncode == 1
  assert "unexpected argument 'train'" in done.stderr


def test_success_is_zero():
  assert run("return None").returncode == 0
