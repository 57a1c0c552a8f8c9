"""Opens TensorBoard on runs: curves, attention pictures, sample captions, PR curves, HParams.

    python -m trainers.tensorboard --runs=runs

listens until it is stopped; a training that is under way is shown as it goes on.
"""

import os
import pathlib
import sys

from absl import flags

from gcap_tf import errors

_RUNS = flags.DEFINE_string("runs", None, "A run folder, or a folder of runs.", required=True)
_PORT = flags.DEFINE_integer("port", 6006, "Where TensorBoard listens; 0 takes a free port.", 0)
_BIND = flags.DEFINE_string("bind", "127.0.0.1", "Address to listen on.")


def check_runs(folder: pathlib.Path) -> None:
  """A `UserError` where no run has written anything yet."""
  if not any(folder.rglob("events.out.tfevents.*")):
    raise errors.UserError(
      f"{folder} holds nothing to show: expected a run folder, or a folder of runs"
    )


def main(argv: list[str]) -> None:
  del argv
  check_runs(pathlib.Path(_RUNS.value))
  # A program of its own: TensorBoard would take our flags for its own.
  program = [sys.executable, "-m", "tensorboard.main", f"--logdir={_RUNS.value}"]
  os.execv(sys.executable, [*program, f"--port={_PORT.value}", f"--host={_BIND.value}"])


if __name__ == "__main__":
  errors.run(main)
