"""Kills training programs at random moments and compares their final states, bit by bit.

    python -m benchmarks.faults --kills=10 --programs=matcher,captioner,scst,contrastive,detector
    python -m benchmarks.faults --kills=50 --counts=FILE --work=DIR           # adds up

Each program runs once without kills. Then it starts in a new folder, gets SIGKILL, and starts
again with the same command; this happens --kills times before it may finish. Kills fall, in turn,
at a random moment of its start, shortly after its next checkpoint, and into its next checkpoint.
Moments count in processor seconds of the program, so a busy machine does not shift them.
Weights, optimiser state and metrics.jsonl must equal those of the first run, and nothing
half-written may be left. With --work, a later run of this benchmark takes the first runs from
there. Prints a line for every kill, then one JSON object; the exit code is 0 if all final states
are equal.
"""

import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks.reliability import counts as counts_lib
from benchmarks.reliability import drawn_photographs, preloaded
from gcap_tf import errors, files
from gcap_tf.runs import checkpoints
from gcap_tf.vision import detector

_NEVER = 1_000_000
# Processor seconds of a program in which a kill falls.
_FIRST_SECONDS = 3.0  # from its start, before it is known how long that takes
_MOST_SECONDS = 0.4  # after a checkpoint
_SAVE_SECONDS = 0.03  # after the beginning of a checkpoint
_PLACES = ("any", "late", "save")
MODULES = (
  *preloaded.TRAINING,
  *("gcap_tf.recipes.catalog", "gcap_tf.matchers.catalog", "gcap_tf.captioners.catalog"),
  *("gcap_tf.training.methods.matching", "gcap_tf.training.methods.self_critical"),
  *(
    "benchmarks.reliability.sudden_end",
    "gcap_tf.training.methods.contrastive",
    "gcap_tf.training.methods.detection",
  ),
)
_STARTED = ("scst", "contrastive")  # programs that begin with a captioner
_SMALL_CAPTIONER = ("hidden_size=24", "embedding_size=16", "attention_size=16")
_SMALL_DETECTOR = {"size": 64, "width": 8, "depth": 1, "units": 8, "candidates": 84}
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
  "contrastive": (
    "trainers.finetune_contrastive", "--start={start}", "--reference={start}", "--negatives=2",
    "--images=4", "--epochs=30", "--learning_rate=0.001",
  ),
  "detector": (
    "trainers.train_detector", "--source={photographs}/entities",
    "--pictures={photographs}/pictures", "--backbone_weights={photographs}/backbone.weights.h5",
    "--epochs=30", "--batch_size=2",
    *(f"--set=model.{name}={value}" for name, value in _SMALL_DETECTOR.items()),
  ),
}  # fmt: skip


def prepare(folder: pathlib.Path, starter: preloaded.Starter | None = None) -> pathlib.Path:
  """Prepares 48 drawn scenes with noisy regions."""
  options = [
    *("--dataset=scenes", "--regions=noisy", f"--out={folder}", "--workers=1"),
    *("--scenes_train=48", "--scenes_val=4", "--scenes_test=2"),
    *("--set=noisy.regions=8", "--set=noisy.feature_size=32"),
  ]
  finish([sys.executable, "-m", "trainers.prepare_data", *options], starter)
  return folder


def command(program: str, data: pathlib.Path, run: pathlib.Path, starts: dict[str, str]):
  module, *options = COMMANDS[program]
  options = [option.format(**starts) for option in options]
  data_flags = [] if program == "detector" else [f"--data={data}"]
  return [
    *(sys.executable, "-m", module, *data_flags, f"--run={run}", *options),
    *("--deterministic", f"--set=evaluate_every={_NEVER}", "--set=seed=7"),
  ]


def finish(arguments: list[str], starter: preloaded.Starter | None = None) -> str:
  """Runs a command to its end, as a fork of `starter` if there is one; returns its output."""
  with tempfile.TemporaryDirectory() as folder:
    output, problems = pathlib.Path(folder, "output"), pathlib.Path(folder, "errors")
    if starter:
      code = starter.run(arguments[2:], str(output), errors=str(problems))
    else:
      with output.open("w") as out, problems.open("w") as err:
        code = subprocess.run(arguments, stdout=out, stderr=err).returncode
    if code:
      said = problems.read_text(errors="replace")[-500:]
      raise errors.UserError(f"{' '.join(arguments)} ended with: {said}")
    return output.read_text(errors="replace")


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


def is_saving(run: pathlib.Path) -> bool:
  """Whether a checkpoint is being written."""
  return any((run / "checkpoints").glob(".*.partial-*"))


class Killer:
  """Starts one program again and again, with its end in it.

  Attributes:
    longest: processor seconds of its last start that wrote a checkpoint.
  """

  def __init__(self, starter: preloaded.Starter, arguments: list[str], run: pathlib.Path):
    self.starter, self.arguments, self.run = starter, arguments, run
    self.longest = _FIRST_SECONDS

  def kill(self, place: str, rng: random.Random) -> tuple[bool, bool]:
    """Kills a run at any moment ("any"), after its next checkpoint ("late") or in one ("save").

    Returns:
      Whether it was killed before it finished, and whether a checkpoint was being written.
    """
    call = f'sudden_end.at_call("{checkpoints.__name__}", "save", '
    end = {
      "any": f"sudden_end.after({rng.uniform(0.0, self.longest)})",
      "late": f"{call}{rng.uniform(0.0, _MOST_SECONDS)}, ended=True)",
      "save": f"{call}{rng.uniform(0.0, _SAVE_SECONDS)})",
    }[place]
    before = f"from benchmarks.reliability import sudden_end; {end}"
    child = self.starter.start(self.arguments[2:], before=before)
    killed = child.wait() == -signal.SIGKILL
    if place != "any":
      self.longest = child.seconds
    return killed, is_saving(self.run)


def kill_program(
  starter: preloaded.Starter,
  program: str,
  work: pathlib.Path,
  data: pathlib.Path,
  starts: dict[str, str],
  counts: counts_lib.Counts,
) -> dict:
  """Kills one program several times; returns what happened."""
  whole, run = work / f"{program}_whole", work / f"{program}_killed"
  arguments = command(program, data, run, starts)
  rng = random.Random(f"{flags.FLAGS.seed} {program} {counts.of(program).get('kills', 0)}")
  steps, saves = [], 0
  if not (work / f"{program}_whole.done").exists():
    finish(command(program, data, whole, starts), starter)
    (work / f"{program}_whole.done").touch()
  killer = Killer(starter, arguments, run)
  while len(steps) < flags.FLAGS.kills:
    place = _PLACES[len(steps) % len(_PLACES)]
    killed, saving = killer.kill(place, rng)
    if not killed:
      break
    steps.append(newest(run))
    saves += saving
    counts.add(program, kills=1, inside_saves=int(saving), any_moment=int(place == "any"))
    shown = "inside a save" if saving else f"{place}, between saves"
    print(f"{program} kill {len(steps)}, {shown}: newest step {steps[-1]}", flush=True)
  finish(arguments, starter)
  left = [path.name for path in run.rglob(".*")]
  equal = state(run) == state(whole) and not left
  counts.add(program, **{"same_bits" if equal else "other_bits": 1})
  if equal:
    files.remove(run)
  verdict = "the same bits" if equal else f"NOT the same; left half-written: {left}"
  print(f"{program}: {len(steps)} kills, {saves} inside saves, {verdict}", flush=True)
  return {
    "kills": len(steps),
    "inside_saves": saves,
    "same_bits": equal,
    "steps": newest(whole),
    "resumed_at": steps,
  }


def drawn_photographs_of(folder: pathlib.Path) -> str:
  """Photographs, annotations and a backbone for the detector; returns the folder."""
  if not (folder / "backbone.weights.h5").exists():
    files.remove(folder)
    drawn_photographs.make(folder)
    config = detector.DetectorConfig(labels=2, colours=11, **_SMALL_DETECTOR)
    model = detector.Detector(config, "none")
    model.backbone.save_weights(folder / "backbone.weights.h5")
  return str(folder)


def main(_: list[str]) -> int:
  chosen = flags.FLAGS.programs
  with (
    tempfile.TemporaryDirectory() as temporary,
    counts_lib.opened(flags.FLAGS.counts) as counts,
    preloaded.Starter(MODULES) as starter,
  ):
    work = pathlib.Path(flags.FLAGS.work or temporary)
    work.mkdir(parents=True, exist_ok=True)
    data = work / "data"
    if not data.exists():
      prepare(data, starter)
    starts = {"photographs": str(work / "photographs")}
    if "detector" in chosen:
      drawn_photographs_of(work / "photographs")
    if set(_STARTED) & set(chosen):
      for name, program in (("start", "captioner"), ("matcher", "matcher")):
        starts[name] = str(work / f"scst_{name}")
        short = [*command(program, data, pathlib.Path(starts[name]), starts), "--epochs=2"]
        finish(short, starter)
    figures = []
    for _ in range(flags.FLAGS.rounds):
      for program in chosen:
        figures.append(kill_program(starter, program, work, data, starts, counts))
    print(json.dumps({"so far": counts.all()}))
  print(json.dumps(dict(zip(chosen, figures[-len(chosen) :], strict=True))))
  return int(not all(figure["same_bits"] for figure in figures))


if __name__ == "__main__":
  flags.DEFINE_integer("kills", 24, "Number of kills of each program, in each round.", 1)
  flags.DEFINE_list("programs", list(COMMANDS), "Programs to kill.")
  flags.DEFINE_integer("rounds", 1, "Times that each program begins in a new folder.", 1)
  flags.DEFINE_integer("seed", 1, "Seed of the moments.")
  flags.DEFINE_string("work", "", "Folder for the runs; empty for a temporary one.")
  flags.DEFINE_string("counts", "", "File in which counts add up over runs; empty for none.")
  errors.run(main)
