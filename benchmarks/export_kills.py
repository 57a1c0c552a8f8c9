"""kill -9 at a random moment of an export: a server must never see half a version."""

import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from benchmarks import serving_model
from gcap_tf.training import runs
from serving import servables, versions

_LONGEST = 300.0  # seconds for one export


def kills(count: int, seed: int = 0, span: float | None = None) -> dict:
  """Exports `count` times, killed after the first byte is written and before the end.

  After every kill, what a server would load must load and answer its warm-up.

  Args:
    count: of kills.
    seed: of their moments.
    span: seconds from the first byte within which they fall; None takes those of a first
      export that is not killed.
  """
  rng = random.Random(seed)
  with tempfile.TemporaryDirectory() as folder:
    run, out = pathlib.Path(folder) / "run", pathlib.Path(folder) / "models"
    model, vocabulary = serving_model.make(hidden=8, features=4, words=10)
    runs.save(run, "captioner", "updown", model, vocabulary)
    begun = count if span else count + 1
    span = span or _export(run, out, None)
    broken, seen, leftovers = [], set(), 0
    for _ in range(count):
      _export(run, out, rng.uniform(0, span))
      found = versions.wanted_versions(versions.ModelConfig("captioner", out, latest=0))
      broken += [number for number in set(found) - seen if not _answers(found[number])]
      seen |= set(found)
      leftovers = sum(path.name.startswith(".") for path in out.iterdir())
  return {
    "held": not broken,
    "exports": begun,
    "finished": len(seen),
    "hidden_leftovers": leftovers,
    "broken_versions": broken,
  }


def _export(run: pathlib.Path, out: pathlib.Path, seconds: float | None) -> float:
  """Starts an export; kills it `seconds` after its first byte, or lets it end.

  Returns:
    Seconds from the first byte to the version's number, or to the kill.
  """
  before = _names(out)
  process = subprocess.Popen(
    [sys.executable, "-m", "export.export_model", f"--run={run}", f"--out={out}", "--max_length=3"],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
  )
  began = _wait(process, lambda: _names(out) - before)
  if seconds is None:
    ended = _wait(process, lambda: any(name.isdigit() for name in _names(out) - before))
    process.wait()
    return ended - began
  time.sleep(max(0.0, began + seconds - time.monotonic()))
  process.send_signal(signal.SIGKILL)
  process.wait()
  return seconds


def _names(folder: pathlib.Path) -> set[str]:
  return {path.name for path in folder.iterdir()} if folder.exists() else set()


def _wait(process: subprocess.Popen, happened: Callable[[], object]) -> float:
  """When something happened, or the process ended."""
  deadline = time.monotonic() + _LONGEST
  while not happened() and process.poll() is None:
    if time.monotonic() > deadline:
      process.kill()
      raise TimeoutError("the export did not get there")
    time.sleep(0.002)
  return time.monotonic()


def _answers(version: pathlib.Path) -> bool:
  try:
    servable = servables.Servable(version)
    answered = servable.warm_up() > 0
    servable.close()
  except Exception:
    return False
  return answered
