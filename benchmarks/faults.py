"""Kills training programs at random moments and compares what they end with, bit by bit.

    python -m benchmarks.faults --kills=10 --programs=matcher,captioner,scst

Each program is run once undisturbed. Then, --kills times: started in a new folder, ended with
SIGKILL at a random moment between its first checkpoint and its end, started again with the same
command, and left to finish. Weights, optimiser state and metrics.jsonl must be those of the
undisturbed run. Prints a line for every kill, then one JSON object.
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf
from absl import flags

from gcap_tf import errors
from gcap_tf.training import checkpoints

_KILLS = flags.DEFINE_integer("kills", 10, "Kills of each program.", 1)
_PROGRAMS = flags.DEFINE_list("programs", ["matcher", "captioner", "scst"], "Which to kill.")
_SEED = flags.DEFINE_integer("seed", 1, "Of the moments.")
_WORK = flags.DEFINE_string("work", "", "Folder to keep the runs in; a temporary one if empty.")

_NEVER = 1_000_000
_SMALL_CAPTIONER = ("hidden_size=24", "embedding_size=16", "attention_size=16")
# Small models, long enough that a kill finds some steps: 12 to an epoch, a checkpoint each.
COMMANDS = {
  "matcher": (
    "trainers.train_matcher", "--model=sgraf", "--batch_size=20", "--epochs=30",
    "--set=options.joint_size=16", "--set=options.word_size=16", "--set=options.similarity_size=8",
    "--set=options.head=SAF", "--ccr_weight=0.1",
  ),
  "captioner": (
    "trainers.train_captioner", "--model=updown", "--images=4", "--epochs=30",
    *(f"--set=options.{size}" for size in _SMALL_CAPTIONER),
  ),
  "scst": (
    "trainers.finetune_scst", "--start={start}", "--rewards=cider:1,matcher:1",
    "--matcher={matcher}", "--samples=2", "--images=4", "--epochs=12", "--learning_rate=0.001",
  ),
}  # fmt: skip


def prepare(folder: pathlib.Path) -> pathlib.Path:
  """48 drawn scenes with noisy regions."""
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
  """Runs to the end; returns what was printed."""
  done = subprocess.run(arguments, capture_output=True, text=True)
  if done.returncode:
    raise errors.UserError(f"{' '.join(arguments)} ended with: {done.stderr[-500:]}")
  return done.stdout


def state(run: pathlib.Path) -> tuple[dict[str, bytes], str]:
  """Every tensor of the last training state, and the text of metrics.jsonl."""
  states = checkpoints.StepCheckpoints(run / "checkpoints")
  reader = tf.train.load_checkpoint(str(states.path(states.steps()[-1]) / "state"))
  tensors = {
    name: np.asarray(reader.get_tensor(name)).tobytes()
    for name in reader.get_variable_to_shape_map()
    if name != "_CHECKPOINTABLE_OBJECT_GRAPH"
  }
  return tensors, (run / "metrics.jsonl").read_text(encoding="utf-8")


def kill_at(arguments: list[str], run: pathlib.Path, seconds: float) -> bool:
  """Kills a new run `seconds` after its first checkpoint; False where it had finished by then."""
  child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
  while child.poll() is None and not has_checkpoint(run):
    time.sleep(0.02)
  time.sleep(seconds)
  killed = child.poll() is None
  child.kill()
  child.wait()
  return killed


def has_checkpoint(run: pathlib.Path) -> bool:
  """Whether a run has its first checkpoint."""
  return bool(checkpoints.StepCheckpoints(run / "checkpoints").steps())


def kill_program(program: str, work: pathlib.Path, data: pathlib.Path, starts) -> dict:
  """Kills one program again and again; returns the figures."""
  whole = work / f"{program}_whole"
  begun = time.monotonic()
  child = subprocess.Popen(command(program, data, whole, starts), stdout=subprocess.DEVNULL)
  while child.poll() is None and not has_checkpoint(whole):
    time.sleep(0.02)
  first = time.monotonic()
  if child.wait():
    raise errors.UserError(f"the undisturbed run of {program} failed")
  span = time.monotonic() - first
  expected = state(whole)
  print(f"{program}: undisturbed {time.monotonic() - begun:.0f} s, {span:.1f} s of it in steps")
  moments = random.Random(f"{_SEED.value} {program}")
  same, steps = 0, []
  while len(steps) < _KILLS.value:
    run = work / f"{program}_{len(steps)}"
    arguments = command(program, data, run, starts)
    if not kill_at(arguments, run, moments.uniform(0.0, 0.9 * span)):
      print(f"{program}: finished before the kill; once more")
      subprocess.run(["rm", "-r", str(run)], check=True)
      continue
    found = re.search(r"at step ([\d,]+) of", finish(arguments))
    steps.append(int(found.group(1).replace(",", "")) if found else 0)
    equal = state(run) == expected
    same += equal
    print(
      f"{program} kill {len(steps)}: resumed at step {steps[-1]}, {'same' if equal else 'NOT same'}"
    )
  return {"kills": len(steps), "same_bits": same, "resumed_at": steps}


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
        finish(command(program, data, pathlib.Path(starts[name]), {}))
    figures = {program: kill_program(program, work, data, starts) for program in _PROGRAMS.value}
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
