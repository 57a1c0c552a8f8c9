"""Disks that are full, read-only or slow, and clocks that jump, during the commands that write.

    python -m benchmarks.reliability.disk_faults
    python -m benchmarks.reliability.disk_faults --commands=pack_run,caption --faults=full,slow

Each command writes to a small disk of its own (a tmpfs in a namespace of mounts, `unshare -rm`).
It runs once without a fault. Then, for each fault:

full       the disk has room for a third of what the command writes
read_only  the disk is mounted read-only
slow       every opening, renaming and reading of a file waits
clock      the time of day jumps by up to a day, back and forth

A command must end well or in one line without a traceback, and must leave what was there before.
Afterwards, without the fault, the same command must end well, with the same content as the first
run. Prints a table and one JSON object; the exit code is 0 if nothing was lost.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable

import numpy as np
from absl import flags

from benchmarks import faults
from benchmarks.load import drawn_model
from benchmarks.reliability import counts as counts_lib
from benchmarks.reliability import damaged_files, preloaded
from gcap_tf import errors, files
from gcap_tf.runs import run_folders

_WHOLE = "size=400m"
_SLOW = """
import io, os, time, builtins
def slowed(function):
  def slow(*arguments, **options):
    time.sleep(0.01)
    return function(*arguments, **options)
  return slow
for name in ("replace", "rename", "pread", "fsync", "mkdir", "scandir"):
  setattr(os, name, slowed(getattr(os, name)))
builtins.open = io.open = slowed(io.open)
"""
_CLOCK = """
import random, time
rng, true_time = random.Random(1), time.time
time.time = lambda: true_time() + rng.uniform(-86400, 86400)
"""
FAULTS = ("full", "read_only", "slow", "clock")

Content = dict[str, object]


def tree(path: pathlib.Path) -> Content:
  """Every file that is not hidden, with its bytes."""
  if path.is_file():
    return {"": path.read_bytes()}
  return {name: (path / name).read_bytes() for name in names(path)}


def names(path: pathlib.Path) -> Content:
  """The names of files; for formats whose bytes differ from run to run."""
  found = (each.relative_to(path) for each in path.rglob("*") if each.is_file())
  listed = sorted(str(each) for each in found if not any(p.startswith(".") for p in each.parts))
  return dict.fromkeys(listed)


def trained(path: pathlib.Path) -> Content:
  """The last training state and the metrics of a run."""
  tensors, metrics = faults.state(path)
  return {**tensors, "metrics.jsonl": metrics}


@dataclasses.dataclass(frozen=True)
class Command:
  """A command that writes `out`.

  Attributes:
    words: what follows `python -m`, with {out} and the places of `_prepare`.
    content: what must be the same after a fault.
    resumes: a part of the output may be there after a fault, which the next start continues.
  """

  words: tuple[str, ...]
  content: Callable[[pathlib.Path], Content] = tree
  resumes: bool = False


def _training(program: str) -> Command:
  words = faults.command(program, pathlib.Path("{data}"), pathlib.Path("{out}"), _PLACES)[2:]
  return Command((*words, "--epochs=2"), trained, resumes=True)


_PLACES = {name: f"{{{name}}}" for name in ("start", "matcher", "photographs")}
COMMANDS: dict[str, Command] = {
  "prepare_data": Command(
    (
      *("trainers.prepare_data", "--dataset=scenes", "--regions=noisy", "--out={out}"),
      *("--scenes_train=20", "--scenes_val=4", "--scenes_test=2", "--workers=1"),
    )
  ),
  "extract_regions": Command(
    ("trainers.extract_regions", "--pictures={pictures}", "--out={out}", "--workers=1"),
    resumes=True,
  ),
  "train_matcher": _training("matcher"),
  "train_captioner": _training("captioner"),
  "finetune_scst": _training("scst"),
  "finetune_contrastive": _training("contrastive"),
  "train_detector": _training("detector"),
  "caption": Command(
    ("trainers.caption", "--run=shipped_labels", "--labels={detections}", "--out={out}")
  ),
  "evaluate_captioner": Command(
    (
      *("trainers.evaluate_captioner", "--run={start}", "--data={data}", "--split=val"),
      *("--metrics=cider", "--save_captions={out}"),
    )
  ),
  "calibrate": Command(
    ("trainers.calibrate", "--run={start}", "--data={data}", "--split=val", "--out={out}")
  ),
  "export_model": Command(
    ("export.export_model", "--run={model}", "--out={out}", "--version=1", "--max_length=3"), names
  ),
  "pack_run": Command(("export.pack_run", "--run={model}", "--out={out}")),
}  # fmt: skip


class Bench:
  """A small disk and what the commands read."""

  def __init__(self, work: pathlib.Path, starter: preloaded.Starter, commands: list[str]):
    self.disk, self.starter, self.work = work / "disk", starter, work
    self.disk.mkdir()
    _mount("-t", "tmpfs", "-o", _WHOLE, "tmpfs", str(self.disk))
    self.places = _prepare(work, starter, commands)

  def run(self, command: Command, out: pathlib.Path, before: str = "") -> tuple[int, str]:
    """Exit code and output of a command."""
    output = self.work / "output.txt"
    output.write_text("")
    words = [word.format(out=out, **self.places) for word in command.words]
    return self.starter.run(words, str(output), before=before), output.read_text(errors="replace")

  def fault(self, name: str, room: int) -> str:
    """Begins a fault of the disk; returns statements for a fault inside the program."""
    if name == "full":
      status = os.statvfs(self.disk)
      used = (status.f_blocks - status.f_bfree) * status.f_frsize
      _mount("-o", f"remount,size={max(4096, used + room)}", str(self.disk))
    elif name == "read_only":
      _mount("-o", "remount,ro", str(self.disk))
    return {"slow": _SLOW, "clock": _CLOCK}.get(name, "")

  def repair(self) -> None:
    _mount("-o", f"remount,rw,{_WHOLE}", str(self.disk))


def try_command(bench: Bench, name: str, chosen: list[str]) -> dict[str, str]:
  """Fault -> what became of a command."""
  command, outcomes = COMMANDS[name], {}
  out = bench.disk / name / "out"
  out.parent.mkdir()
  code, text = bench.run(command, out)
  if code:
    raise errors.UserError(f"{name} without a fault ended with {code}: {text[-500:]}")
  whole = command.content(out)
  written = sum(path.stat().st_size for path in out.parent.rglob("*") if path.is_file())
  for fault in chosen:
    fresh = fault == "full" and command.resumes
    if fresh or name == "export_model":
      shutil.rmtree(out)  # A finished run has nothing left to write.
    before = bench.fault(fault, written // 3)
    try:
      code, text = bench.run(command, out, before)
    finally:
      bench.repair()
    outcomes[fault] = _judged(code, text)
    if not fresh and out.exists() and command.content(out) != whole:
      outcomes[fault] = "LOST what was there before"
    code, text = bench.run(command, out)
    if (code and name != "export_model") or command.content(out) != whole:
      outcomes[fault] += f", and again: NOT WHOLE ({text[-200:].strip()})"
  shutil.rmtree(out.parent)
  return outcomes


def _judged(code: int, text: str) -> str:
  """The last line that a person sees, or what is wrong with it."""
  lines = [line for line in text.splitlines() if line.startswith("error: ")]
  if "Traceback" in text or code < 0:
    return f"CRASHED ({text.strip()[-200:]})"
  if code and len(lines) != 1:
    return f"NO LINE ({text.strip()[-200:]})"
  return lines[0] if code else "ended well"


def held(outcomes: dict[str, str]) -> bool:
  bad = ("LOST", "NOT WHOLE", "CRASHED", "NO LINE")
  return not any(word in text for text in outcomes.values() for word in bad)


def _prepare(work: pathlib.Path, starter: preloaded.Starter, commands: list[str]) -> dict[str, str]:
  """Writes what the commands read; trains a captioner and a matcher only if one needs them."""
  places = {"data": work / "data", "pictures": work / "pictures", "model": work / "model"}
  faults.prepare(work / "data", starter)
  (work / "pictures").mkdir()
  for number, data in enumerate(damaged_files.photographs(2, 0)):
    (work / "pictures" / f"{number}.jpg").write_bytes(data)
  model, vocabulary = drawn_model.make(hidden=8, features=4, words=10)
  run_folders.save(work / "model", "captioner", "updown", model, vocabulary)
  boxes = np.array([[60, 40, 200, 320], [250, 220, 180, 140]]).tolist()
  rows = [
    {"image_id": 7, "bbox": box, "category": label, "score": 0.9}
    for box, label in zip(boxes, ("person", "dog"), strict=True)
  ]
  image = {"id": 7, "width": 640, "height": 480}
  categories = [{"id": 1, "name": "dog"}]
  value = {"images": [image], "annotations": rows, "categories": categories}
  files.write_json(work / "detections.json", value)
  places |= {"detections": work / "detections.json", "photographs": work / "photographs"}
  places |= {"start": work / "start", "matcher": work / "matcher"}
  words = {word for name in commands for word in COMMANDS[name].words}
  if any("{photographs}" in word for word in words):
    faults.drawn_photographs_of(work / "photographs")
  for name, program in (("start", "captioner"), ("matcher", "matcher")):
    if any(f"{{{name}}}" in word for word in words):
      arguments = [*faults.command(program, work / "data", places[name], {}), "--epochs=2"]
      faults.finish(arguments, starter)
  return {name: str(path) for name, path in places.items()}


def _mount(*words: str) -> None:
  done = subprocess.run(["mount", *words], capture_output=True, text=True)
  if done.returncode:
    raise errors.UserError(f"this system does not allow mounting a small disk: {done.stderr}")


def main(argv: list[str]) -> int:
  chosen = flags.FLAGS.commands
  for name, known in [*((n, COMMANDS) for n in chosen), *((n, FAULTS) for n in flags.FLAGS.faults)]:
    if name not in known:
      raise errors.UserError(f'unknown "{name}"; known: {", ".join(known)}')
  if not flags.FLAGS.inside:
    again = [sys.executable, "-m", "benchmarks.reliability.disk_faults", *sys.argv[1:], "--inside"]
    return subprocess.run(["unshare", "-rm", *again], check=False).returncode
  del argv
  found = {}
  print("| command | fault | what the user sees |\n|---|---|---|")
  with (
    tempfile.TemporaryDirectory() as folder,
    preloaded.Starter(faults.MODULES) as starter,
    counts_lib.opened(flags.FLAGS.counts) as counts,
  ):
    bench = Bench(pathlib.Path(folder), starter, chosen)
    for name in chosen:
      found[name] = try_command(bench, name, flags.FLAGS.faults)
      for fault, text in found[name].items():
        print(f"| {name} | {fault} | {text.replace(folder, '...')} |", flush=True)
        counts.add(name, **{fault if held({fault: text}) else f"{fault} FAILED": 1})
    subprocess.run(["umount", str(bench.disk)], check=False)
  print(json.dumps(found))
  return int(not all(map(held, found.values())))


if __name__ == "__main__":
  flags.DEFINE_list("commands", list(COMMANDS), "Commands to try.")
  flags.DEFINE_list("faults", list(FAULTS), "Faults to cause.")
  flags.DEFINE_string("counts", "", "File in which counts add up over runs; empty for none.")
  flags.DEFINE_bool("inside", False, "Whether this process has mounts of its own.")
  errors.run(main)
