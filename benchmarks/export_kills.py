"""kill -9 at a random moment of an export: a server must never see half a version."""

import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

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
    broken, finished, leftovers = [], 0, 0
    for _ in range(count):
      _export(run, out, rng.uniform(0, span))
      found = versions.wanted_versions(versions.ModelConfig("captioner", out, latest=0))
      for number, version in found.items():
        if not _answers(version):
          broken.append(number)
      finished = len(found)
      leftovers = sum(path.name.startswith(".") for path in out.iterdir())
  return {
    "held": not broken,
    "exports": begun,
    "finished": finished,
    "hidden_leftovers": leftovers,
    "broken_versions": broken,
  }


def _export(run: pathlib.Path, out: pathlib.Path, seconds: float | None) -> float:
  """Starts an export; kills it `seconds` after its first byte, or lets it end.

  Returns:
    Seconds from the first byte to the end.
  """
  before = set(out.iterdir()) if out.exists() else set()
  process = subprocess.Popen(
    [sys.executable, "-m", "export.export_model", f"--run={run}", f"--out={out}", "--max_length=3"],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
  )
  deadline = time.monotonic() + _LONGEST
  while process.poll() is None and not (out.exists() and set(out.iterdir()) - before):
    if time.monotonic() > deadline:
      process.kill()
      raise TimeoutError("the export wrote nothing")
    time.sleep(0.002)
  began = time.monotonic()
  try:
    process.wait(seconds)
  except subprocess.TimeoutExpired:
    process.send_signal(signal.SIGKILL)
    process.wait()
  return time.monotonic() - began


def _answers(version: pathlib.Path) -> bool:
  try:
    servable = servables.Servable(version)
    answered = servable.warm_up() > 0
    servable.close()
  except Exception:
    return False
  return answered
