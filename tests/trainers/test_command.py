"""Tests of trainers/command.py: the console command."""
# bazel: data = ["//trainers:command"]

import ast
import importlib.util
import pathlib
import subprocess
import sys

import pytest

from trainers import command

PROGRAM = "from trainers import command; command.main()"


def gcap(*words):
  return subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True)


def test_help_lists_every_command_with_what_it_does():
  shown = gcap("--help").stdout
  assert "train_captioner" in shown and "Trains a captioner" in shown
  assert shown == gcap().stdout


def test_a_command_gets_its_flags():
  done = gcap("score_grounding", "--predictions=none.json", "--references=none.json")
  assert done.returncode == 1
  assert "error: references none.json does not exist" in done.stderr


def test_an_unknown_command_is_named():
  done = gcap("train")
  assert done.returncode == 1 and 'unknown command "train"' in done.stderr


@pytest.mark.parametrize("module", sorted(command.COMMANDS.values()))
def test_examples_keep_their_line_ends_in_the_help(module):
  source = pathlib.Path(importlib.util.find_spec(module).origin).read_text(encoding="utf-8")
  written = source[: source.index('"""', 5)]
  assert written.count("\\\n") == ast.get_docstring(ast.parse(source)).count("\\\n")
