"""Kills exports at random moments: a server must never see an incomplete version.

The exports are forks of a process that has imported TensorFlow, so a kill costs little more than
the export itself. Moments count in processor seconds of the export, so a busy machine does not
shift them.
"""

import pathlib
import random
import tempfile
import time
from collections.abc import Callable

from benchmarks.load import drawn_model
from benchmarks.reliability import preloaded
from gcap_tf.runs import run_folders
from serving import servables, versions

_LONGEST = 1800.0  # seconds for one export
_MAX_TRIES = 5  # exports to start for one that is killed in time
_MODULES = ("tensorflow", "keras", "export.saved_model", "gcap_tf.evaluation.captioner_evaluation")


def kills(count: int, seed: int = 0, span: float | None = None) -> dict:
  """Kills exports at random moments until `count` were killed while they were writing.

  A kill after the final rename stops nothing; such exports count as finished. After every
  kill, each version that a server would load must load and answer its warm-up requests.

  Args:
    count: number of exports to kill between their first byte and their end.
    seed: seed of the moments.
    span: processor seconds after the first byte in which the first kill falls; None measures an
      export that is not killed. Later kills use the time of the last finished export.
  """
  rng = random.Random(seed)
  with tempfile.TemporaryDirectory() as folder, preloaded.Starter(_MODULES) as starter:
    run, out = pathlib.Path(folder) / "run", pathlib.Path(folder) / "models"
    model, vocabulary = drawn_model.make(hidden=8, features=4, words=10)
    run_folders.save(run, "captioner", "updown", model, vocabulary)
    exports = 0 if span else 1
    span = span or _export(starter, run, out, None)
    broken, seen, killed = [], set(), 0
    while killed < count and exports <= _MAX_TRIES * count:
      took = _export(starter, run, out, rng.uniform(0, span))
      exports, killed, span = exports + 1, killed + (took is None), took or span
      found = versions.wanted_versions(versions.ModelConfig("captioner", out, latest=0))
      broken += [number for number in set(found) - seen if not _answers(found[number])]
      seen |= set(found)
    leftovers = sum(path.name.startswith(".") for path in out.iterdir())
  return {
    "held": killed == leftovers == count and not broken,
    "exports": exports,
    "killed_while_writing": killed,
    "finished": len(seen),
    "hidden_leftovers": leftovers,
    "broken": len(broken),
    "broken_versions": broken,
  }


def _export(
  starter: preloaded.Starter, run: pathlib.Path, out: pathlib.Path, seconds: float | None
) -> float | None:
  """Starts an export; kills it `seconds` after its first byte, or lets it finish.

  Returns:
    Processor seconds from the first byte to the final rename; None if it was killed before that.
  """
  before = _names(out)
  child = starter.start(["export.export_model", f"--run={run}", f"--out={out}", "--max_length=3"])

  def numbered() -> bool:
    return any(name.isdigit() for name in _names(out) - before)

  began = _wait(child, lambda: _names(out) - before)
  moment = began + (_LONGEST if seconds is None else seconds)
  ended = _wait(child, lambda: numbered() or child.seconds() >= moment)
  if seconds is not None:
    child.kill()
  child.wait()
  return ended - began if numbered() else None


def _names(folder: pathlib.Path) -> set[str]:
  return {path.name for path in folder.iterdir()} if folder.exists() else set()


def _wait(child: preloaded.Child, happened: Callable[[], object]) -> float:
  """Waits until something happened or the process ended; returns its processor seconds."""
  deadline = time.monotonic() + _LONGEST
  while not happened() and child.running():
    child.seconds()
    if time.monotonic() > deadline:
      child.kill()
      raise TimeoutError("the export took too long")
    time.sleep(0.002)
  return child.seconds()


def _answers(version: pathlib.Path) -> bool:
  try:
    servable = servables.Servable(version)
    answered = servable.run_warmup_requests() > 0
    servable.close()
  except Exception:
    return False
  return answered
