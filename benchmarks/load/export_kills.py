"""Kills exports at random moments: a server must never see an incomplete version.

The exports are forks of a process that has imported TensorFlow, so a kill costs little more than
the export itself. Moments count in processor seconds of the export, so a busy machine does not
shift them.
"""

import pathlib
import random
import signal
import tempfile

from benchmarks.load import drawn_model
from benchmarks.reliability import preloaded
from gcap_tf import errors
from gcap_tf.runs import run_folders
from serving import servables, versions

_MAX_TRIES = 5  # exports to start for one that is killed in time
_WRITING = 0.5  # share of the seconds of an export, from its first byte on
_MODULES = (
  *("tensorflow", "keras", "export.saved_model", "gcap_tf.evaluation.captioner_evaluation"),
  "benchmarks.reliability.sudden_end",
)


def kills(count: int, seed: int = 0, span: float | None = None) -> dict:
  """Kills exports at random moments until `count` were killed while they were writing.

  A kill after the final rename stops nothing; such exports count as finished. After every
  kill, each version that a server would load must load and answer its warm-up requests.

  Args:
    count: number of exports to kill between their first byte and their end.
    seed: seed of the moments.
    span: processor seconds after the first byte in which kills fall; None measures an export that
      is not killed.
  """
  rng = random.Random(seed)
  with tempfile.TemporaryDirectory() as folder, preloaded.Starter(_MODULES) as starter:
    run, out = pathlib.Path(folder) / "run", pathlib.Path(folder) / "models"
    model, vocabulary = drawn_model.make(hidden=8, features=4, words=10)
    run_folders.save(run, "captioner", "updown", model, vocabulary)
    out.mkdir()
    exports = 0 if span else 1
    span = span or _WRITING * _export(starter, run, out)
    broken, seen, killed = [], set(), 0
    while killed < count and exports <= _MAX_TRIES * count:
      before = set(_served(out))
      _export(starter, run, out, rng.uniform(0, span))
      found = _served(out)
      exports, killed = exports + 1, killed + (set(found) == before)
      broken += [number for number in set(found) - seen if not _answers(found[number])]
      seen |= set(found)
    leftovers = sum(path.name.startswith(".") for path in out.iterdir())
  return {
    "held": killed == count and leftovers <= 1 and not broken,
    "exports": exports,
    "killed_while_writing": killed,
    "finished": len(seen),
    "hidden_leftovers": leftovers,
    "broken": len(broken),
    "broken_versions": broken,
  }


def _served(out: pathlib.Path) -> dict[int, pathlib.Path]:
  """Versions that a server would load."""
  return versions.wanted_versions(versions.ModelConfig("captioner", out, latest=0))


def _export(
  starter: preloaded.Starter, run: pathlib.Path, out: pathlib.Path, seconds: float | None = None
) -> float:
  """Exports a run, and kills the export so many seconds after its first byte.

  Returns:
    Processor seconds of the whole export.
  """
  before = ""
  if seconds is not None:
    end = f'sudden_end.at_call("export.saved_model", "save", {seconds})'
    before = f"from benchmarks.reliability import sudden_end; {end}"
  command = ["export.export_model", f"--run={run}", f"--out={out}", "--max_length=3"]
  child = starter.start(command, before=before)
  if child.wait() not in (0, -signal.SIGKILL):
    raise errors.UserError(f"an export ended with code {child.wait()}, which no kill explains")
  return child.seconds


def _answers(version: pathlib.Path) -> bool:
  try:
    servable = servables.Servable(version)
    answered = servable.run_warmup_requests() > 0
    servable.close()
  except Exception:
    return False
  return answered
