"""Runs one pytest file as a Bazel test: XML report, --test_filter, shards."""

import os
import pathlib
import sys

import hypothesis
import pytest


class _Shard:
  """Keeps the tests of this shard (Bazel's TEST_SHARD_INDEX of TEST_TOTAL_SHARDS)."""

  def __init__(self):
    self.total = int(os.environ.get("TEST_TOTAL_SHARDS", "1"))
    self.index = int(os.environ.get("TEST_SHARD_INDEX", "0"))
    status_file = os.environ.get("TEST_SHARD_STATUS_FILE")
    if status_file:
      pathlib.Path(status_file).touch()

  def pytest_collection_modifyitems(self, items):
    items[:] = items[self.index :: self.total]


def main(argv: list[str]) -> int:
  # The same examples in every run, so that chance cannot change the outcome of a test.
  hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
  hypothesis.settings.load_profile("repeatable")
  arguments = ["-q", "-rs", "-p", "no:cacheprovider", *argv]
  if scratch := os.environ.get("TEST_TMPDIR"):
    os.environ.setdefault("HOME", scratch)
    arguments.append(f"--basetemp={scratch}/pytest")
  if report := os.environ.get("XML_OUTPUT_FILE"):
    arguments.append(f"--junitxml={report}")
  if chosen := os.environ.get("TESTBRIDGE_TEST_ONLY"):
    arguments.append(f"-k={chosen}")
  return pytest.main(arguments, plugins=[_Shard()])


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
