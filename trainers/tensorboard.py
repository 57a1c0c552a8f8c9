"""Opens TensorBoard on runs: curves, attention pictures, sample captions, PR curves, HParams.

    python -m trainers.tensorboard --runs=runs

serves until it is stopped, and follows trainings that are under way.
"""

import os
import pathlib
import sys

from absl import flags

from gcap_tf import errors, optional

_RUNS = flags.DEFINE_string("runs", None, "A run folder, or a folder of runs.", required=True)
_PORT = flags.DEFINE_integer("port", 6006, "Port to listen on; 0 takes a free one.", 0)
_BIND = flags.DEFINE_string("bind", "127.0.0.1", "Address to listen on.")


def check_runs(folder: pathlib.Path) -> None:
  """A `UserError` if no run has written anything yet."""
  if not any(folder.rglob("events.out.tfevents.*")):
    raise errors.UserError(
      f"{folder} holds nothing to show: expected a run folder, or a folder of runs"
    )


def main(argv: list[str]) -> None:
  del argv
  check_runs(pathlib.Path(_RUNS.value))
  optional.require("tensorboard", "train")
  # A program of its own, because TensorBoard parses the flags of the process.
  program = [sys.executable, "-m", "tensorboard.main", f"--logdir={_RUNS.value}"]
  os.execv(sys.executable, [*program, f"--port={_PORT.value}", f"--host={_BIND.value}"])


if __name__ == "__main__":
  errors.run(main)
