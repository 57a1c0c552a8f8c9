"""Runs Java scorers with limits of memory and time; failures are never fatal.

METEOR and SPICE exist only as Java programs. If one cannot run, the reason is reported and
every other metric is still computed.
"""

import dataclasses
import functools
import pathlib
import re
import shutil
import subprocess

from gcap_tf import optional

# Packages of Java that the scorers' libraries use; closed to them since Java 16.
_OPENED = ("lang", "util", "math", "net", "text", "util.concurrent", "nio")


class NotComputed(Exception):
  """Why a metric has no value, in one line."""


@dataclasses.dataclass(frozen=True)
class Java:
  """A Java runtime: its program and its major version (8, 11, 17, ..)."""

  program: str
  version: int

  def command(self, heap: str, *arguments: str) -> list[str]:
    """A command line with at most `heap` of memory ("2g"), text in UTF-8."""
    opened = []
    if self.version >= 9:
      opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED]
      opened.append("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
    return [self.program, f"-Xmx{heap}", "-Dfile.encoding=UTF-8", *opened, *arguments]


def find() -> Java:
  """The `java` on the PATH, or `NotComputed`."""
  program = shutil.which("java")
  if program is None:
    raise NotComputed("no java on the PATH; install a Java runtime, version 8 or newer")
  return Java(program, _version(program))


@functools.cache
def _version(program: str) -> int:
  try:
    output = subprocess.run(
      [program, "-version"], capture_output=True, text=True, timeout=60, check=True
    ).stderr
  except (OSError, subprocess.SubprocessError) as error:
    raise NotComputed(f"{program} does not start ({error})") from None
  found = re.search(r'version "(?:1\.)?(\d+)', output)
  if found is None:
    raise NotComputed(f"{program} does not print its version: {output.strip()[:80]}")
  return int(found.group(1))


def scorer_folder(name: str) -> pathlib.Path:
  """Where pycocoevalcap keeps the jar of a scorer ("meteor", "spice", "tokenizer")."""
  package = optional.require("pycocoevalcap", "train")
  return pathlib.Path(package.__path__[0]) / name


def run(command: list[str], timeout_seconds: float, what: str) -> str:
  """Standard output of a command; a failure is `NotComputed` with Java's own message."""
  try:
    done = subprocess.run(
      command,
      capture_output=True,
      encoding="utf-8",
      errors="replace",
      timeout=timeout_seconds,
      check=False,
    )
  except subprocess.TimeoutExpired:
    raise NotComputed(f"{what} took longer than {timeout_seconds:g} s") from None
  except OSError as error:
    raise NotComputed(f"{what} did not start ({error})") from None
  if done.returncode:
    raise NotComputed(f"{what} ended with code {done.returncode}: {complaint(done.stderr)}")
  return done.stdout


def complaint(stderr: str) -> str:
  """The line of Java's error output that names the error."""
  lines = [line.strip() for line in stderr.splitlines() if line.strip()]
  relevant = [line for line in lines if re.search(r"Exception|Error|error", line)]
  return (relevant or lines or ["no message"])[-1][:200]
