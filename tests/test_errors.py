"""Tests of gcap_tf/errors.py: how programs end."""
# bazel: data = ["//gcap_tf:errors"]

import subprocess
import sys

import pytest

from gcap_tf import commands

PROGRAM = """
'''Counts things.

    python -m trainers.caption --number=3
'''
from absl import flags
from gcap_tf import errors
_NUMBER = flags.DEFINE_integer("number", None, "How many.", required=True)
_SEEDS = flags.DEFINE_list("seeds", [], "Several.")
def main(argv):
  {body}
errors.run(main)
"""


def run(body: str, *arguments: str) -> subprocess.CompletedProcess:
  return subprocess.run(
    [sys.executable, "-c", PROGRAM.format(body=body), *(arguments or ["--number=1"])],
    capture_output=True,
    text=True,
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


def test_a_missing_package_names_its_extra_and_other_imports_fail_as_usual():
  missing = "raise ModuleNotFoundError('no', name='tensorboard.plugins')"
  assert run(missing).stderr == (
    "error: tensorboard is not installed: pip install gcap_tf[train]\n"
  )
  assert "Traceback" in run("import nothing_of_this_name").stderr


def test_a_stray_argument_is_refused():
  done = run("return 0", "train", "--number=1")
  assert done.returncode == 1
  assert "unexpected argument 'train'" in done.stderr


def test_success_is_zero():
  assert run("return None").returncode == 0


def test_help_shows_the_docstring_and_the_flags_and_exits_with_0():
  done = run("raise AssertionError", "--help")
  assert done.returncode == 0 and not done.stderr
  assert done.stdout.startswith("Counts things.\n")
  assert commands.command("caption") + " --number=3" in done.stdout
  assert "--number: How many." in done.stdout and "--[no]verbose" in done.stdout


def test_full_help_has_the_flags_of_other_modules():
  done = run("raise AssertionError", "--helpfull")
  assert done.returncode == 0 and "absl.logging:" in done.stdout


@pytest.mark.parametrize(
  ("arguments", "message"),
  [
    (["--nummer=1"], "error: Unknown command line flag 'nummer'"),
    (["--number=many"], "error: flag --number=many"),
    (["--seeds=1"], "error: --number is missing"),
  ],
)
def test_a_wrong_flag_is_one_line(arguments, message):
  done = run("return 0", *arguments)
  assert done.returncode == 1
  assert message in done.stderr and len(done.stderr.splitlines()) == 1
  assert "--help explains the flags" in done.stderr


def test_a_list_of_seeds_that_are_no_numbers_is_refused():
  done = run("print(errors.whole_numbers(_SEEDS))", "--number=1", "--seeds=1,2")
  assert done.stdout == "[1, 2]\n"
  done = run("errors.whole_numbers(_SEEDS)", "--number=1", "--seeds=1,x")
  assert "error: --seeds=1,x: expected whole numbers" in done.stderr


def test_flags_that_a_command_needs_later_are_named():
  done = run("errors.require(flags.DEFINE_string('data', None, ''))", "--number=1")
  assert "error: --data is missing" in done.stderr
