"""Kills training programs at random moments and compares their final states, bit by bit.

    python -m benchmarks.faults --kills=10 --programs=matcher,captioner,scst

Each program runs once without kills. Then it starts in a new folder, gets SIGKILL at a random
moment after a checkpoint, and starts again with the same command; this happens --kills times
before it may finish. Weights, optimiser state and metrics.jsonl must equal those of the first
run. Prints a line for every kill, then one JSON object.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf
from absl import flags

from gcap_tf import errors
from gcap_tf.runs import checkpoints

_KILLS = flags.DEFINE_integer("kills", 10, "Number of kills of each program.", 1)
_PROGRAMS = flags.DEFINE_list("programs", ["matcher", "captioner", "scst"], "Programs to kill.")
_SEED = flags.DEFINE_integer("seed", 1, "Seed of the moments.")
_WORK = flags.DEFINE_string("work", "", "Folder for the runs; empty for a temporary one.")

_NEVER = 1_000_000
_MOST_SECONDS = 1.0
_SMALL_CAPTIONER = ("hidden_size=24", "embedding_size=16", "attention_size=16")
# Small models that compile fast; an epoch has 12 steps and ends with a checkpoint.
COMMANDS = {
  "matcher": (
    "trainers.train_matcher", "--model=scan", "--batch_size=20", "--epochs=40", "--ccr_weight=0.1",
    "--set=options.joint_size=16", "--set=options.word_size=16", "--set=buckets=[]",
  ),
  "captioner": (
    "trainers.train_captioner", "--model=updown", "--images=4", "--epochs=60",
    *(f"--set=options.{size}" for size in _SMALL_CAPTIONER),
  ),
  "scst": (
    "trainers.finetune_scst", "--start={start}", "--rewards=cider:1,matcher:1",
    "--matcher={matcher}", "--samples=2", "--images=4", "--epochs=30", "--learning_rate=0.001",
  ),
}  # fmt: skip


def prepare(folder: pathlib.Path) -> pathlib.Path:
  """Prepares 48 drawn scenes with noisy regions."""
  _run("trainers.prepare_data", "--dataset=scenes", "--regions=noisy", f"--out={folder}",
       "--scenes_train=48", "--scenes_val=4", "--scenes_test=2", "--set=noisy.regions=8",
       "--set=noisy.feature_size=32", "--workers=1")  # fmt: skip
  return folder


def command(program: str, data: pathlib.Path, run: pathlib.Path, starts: dict[str, str]):
  module, *options = COMMANDS[program]
  options = [option.format(**starts) for option in options]
  return [
    *(sys.executable, "-m", module, f"--data={data}", f"--run={run}", *options),
    *("--deterministic", f"--set=evaluate_every={_NEVER}", "--set=seed=7"),
  ]


def _run(module: str, *options: str) -> None:
  subprocess.run([sys.executable, "-m", module, *options], check=True, capture_output=True)


def finish(arguments: list[str]) -> str:
  """Runs a command to its end; returns its standard output."""
  done = subprocess.run(arguments, capture_output=True, text=True)
  if done.returncode:
    raise errors.UserError(f"{' '.join(arguments)} ended with: {done.stderr[-500:]}")
  return done.stdout


def state(run: pathlib.Path) -> tuple[dict[str, bytes], str]:
  """Returns every tensor of the last checkpoint, and the text of metrics.jsonl."""
  states = checkpoints.StepCheckpoints(run / "checkpoints")
  reader = tf.train.load_checkpoint(str(states.path(states.steps()[-1]) / "state"))
  tensors = {
    name: np.asarray(reader.get_tensor(name)).tobytes()
    for name in reader.get_variable_to_shape_map()
    if name != "_CHECKPOINTABLE_OBJECT_GRAPH"
  }
  return tensors, (run / "metrics.jsonl").read_text(encoding="utf-8")


def newest(run: pathlib.Path) -> int:
  """Returns the step of the newest checkpoint of a run, 0 if there is none."""
  return max(checkpoints.StepCheckpoints(run / "checkpoints").steps(), default=0)


def has_checkpoint(run: pathlib.Path) -> bool:
  return newest(run) > 0


def kill_once(arguments: list[str], run: pathlib.Path, seconds: float) -> bool:
  """Kills a run `seconds` after its next checkpoint; returns False if it has finished."""
  before = newest(run)
  child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
  while child.poll() is None and newest(run) <= before:
    time.sleep(0.01)
  time.sleep(seconds)
  killed = child.poll() is None
  child.kill()
  child.wait()
  return killed


def kill_program(program: str, work: pathlib.Path, data: pathlib.Path, starts) -> dict:
  """Kills one program several times; returns what happened."""
  whole, run = work / f"{program}_whole", work / f"{program}_killed"
  finish(command(program, data, whole, starts))
  arguments = command(program, data, run, starts)
  moments = random.Random(f"{_SEED.value} {program}")
  steps = []
  while len(steps) < _KILLS.value:
    if not kill_once(arguments, run, moments.uniform(0.0, _MOST_SECONDS)):
      break
    steps.append(newest(run))
    print(f"{program} kill {len(steps)}: the newest checkpoint is of step {steps[-1]}", flush=True)
  finish(arguments)
  equal = state(run) == state(whole)
  verdict = "the same bits" if equal else "NOT the same"
  print(f"{program}: {len(steps)} kills, {verdict}", flush=True)
  return {"kills": len(steps), "same_bits": equal, "steps": newest(run), "resumed_at": steps}


def main(_: list[str]) -> None:
  with tempfile.TemporaryDirectory() as temporary:
    work = pathlib.Path(_WORK.value or temporary)
    work.mkdir(parents=True, exist_ok=True)
    data = work / "data"
    if not data.exists():
      prepare(data)
    starts = {}
    if "scst" in _PROGRAMS.value:
      for name, program in (("start", "captioner"), ("matcher", "matcher")):
        starts[name] = str(work / f"scst_{name}")
        finish([*command(program, data, pathlib.Path(starts[name]), {}), "--epochs=2"])
    figures = {program: kill_program(program, work, data, starts) for program in _PROGRAMS.value}
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
