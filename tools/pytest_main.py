"""Runs pytest files as a Bazel test: XML report, --test_filter, shards.

With `--apart`, every file has a process of its own, a fork of one that has imported TensorFlow.
"""

import importlib
import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import hypothesis
import pytest

_IMPORTED = ("tensorflow", "keras")  # What most files import, and what takes long.


def of_shard(files: list[str]) -> list[str]:
  """The test files of this shard (Bazel's TEST_SHARD_INDEX of TEST_TOTAL_SHARDS)."""
  if status_file := os.environ.get("TEST_SHARD_STATUS_FILE"):
    pathlib.Path(status_file).touch()
  index = int(os.environ.get("TEST_SHARD_INDEX", "0"))
  return files[index :: int(os.environ.get("TEST_TOTAL_SHARDS", "1"))]


def run(files: list[str], report: str) -> int:
  """Runs files in this process; writes an XML report if it has a name."""
  arguments = ["-q", "-rs", "-p", "no:cacheprovider", *files]
  if scratch := os.environ.get("TEST_TMPDIR"):
    os.environ.setdefault("HOME", scratch)
    arguments.append(f"--basetemp={scratch}/pytest")
  if report:
    arguments.append(f"--junitxml={report}")
  if chosen := os.environ.get("TESTBRIDGE_TEST_ONLY"):
    arguments.append(f"-k={chosen}")
  code = pytest.main(arguments)
  # A filter may leave nothing of one file.
  return 0 if chosen and code == pytest.ExitCode.NO_TESTS_COLLECTED else int(code)


def run_apart(files: list[str], report: str) -> int:
  """Runs each file in a fork of this process; 1 if one failed."""
  for name in _IMPORTED:
    importlib.import_module(name)
  failed, suites = 0, ElementTree.Element("testsuites")
  for number, file in enumerate(files):
    part = f"{report}.{number}" if report else ""
    child = os.fork()
    if not child:
      sys.exit(run([file], part))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if part and os.path.exists(part):
      suites.extend(ElementTree.parse(part).getroot())
    elif part:
      code = code or 1  # It ended before it could write its report.
      print(f"{file} died with exit code {code}", flush=True)
      suite = ElementTree.SubElement(suites, "testsuite", name=file)
      case = ElementTree.SubElement(suite, "testcase", name=file)
      ElementTree.SubElement(case, "error", message=f"died with exit code {code}")
    failed |= code != 0
  if report:
    ElementTree.ElementTree(suites).write(report, encoding="utf-8", xml_declaration=True)
  return int(failed)


def main(argv: list[str]) -> int:
  # The same examples in every run, so that chance cannot change the outcome of a test.
  hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
  hypothesis.settings.load_profile("repeatable")
  apart = argv[:1] == ["--apart"]
  files = of_shard(argv[1:] if apart else argv)
  return (run_apart if apart else run)(files, os.environ.get("XML_OUTPUT_FILE", ""))


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
