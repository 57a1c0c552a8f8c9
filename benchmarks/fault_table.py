"""Causes the faults that a training run can meet, and shows what the user sees and keeps.

    python -m benchmarks.fault_table

The benchmark trains a small captioner, causes a fault, repairs it, and runs the same command
again. "the same bits" means that weights, optimiser state and metrics.jsonl equal those of a
run without a fault. Prints the table of docs/training.md.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from absl import flags

from benchmarks import faults
from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from gcap_tf.runs import checkpoints

_FAULTS = flags.DEFINE_list("faults", [], "Faults to cause; all by default.")

# Programs that break reading, then run the training module of their arguments.
_SLOW = """
from gcap_tf.data.prepared import shards
read_at, calls = shards.read_at, []
def slow(*arguments):
  calls.append(0)
  if len(calls) == 40:
    time.sleep(11)
  return read_at(*arguments)
shards.read_at = slow
"""
_POISON = """
from gcap_tf.data.prepared import shards
decode = shards.decode
def poisoned(data):
  record = decode(data)
  if record.image_id == "IMAGE":
    regions = dataclasses.replace(record.regions, features=record.regions.features * np.nan)
    record = dataclasses.replace(record, regions=regions)
  return record
shards.decode = poisoned
"""
_PROGRAM = """
import dataclasses, runpy, sys, time
import numpy as np
FAULT
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


class Bench:
  """A prepared folder, a training command, and the final state of a run without faults."""

  def __init__(self, work: pathlib.Path):
    self.work = work
    self.data = faults.prepare(work / "data")
    faults.finish(self.command("whole"))
    self.expected = faults.state(work / "whole")

  def command(self, name: str, data: pathlib.Path | None = None) -> list[str]:
    return faults.command("captioner", data or self.data, self.work / name, {})

  def start(self, name: str, **options) -> subprocess.Popen:
    """Starts a run and waits for its first checkpoint."""
    child = subprocess.Popen(
      self.command(name), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options
    )
    while child.poll() is None and not faults.has_checkpoint(self.work / name):
      time.sleep(0.02)
    return child

  def verdict(self, name: str) -> str:
    return "the same bits" if faults.state(self.work / name) == self.expected else "NOT the same"


def signalled(bench: Bench, number: signal.Signals) -> tuple[str, str]:
  name = number.name
  child = bench.start(name)
  child.send_signal(number)
  _, output = child.communicate()
  faults.finish(bench.command(name))
  return _last_line(output), bench.verdict(name)


def killed(bench: Bench) -> tuple[str, str]:
  child = bench.start("killed")
  child.kill()
  child.communicate()
  output = faults.finish(bench.command("killed"))
  return re.search(r"Resuming .*", output).group(), bench.verdict("killed")


def damaged_checkpoint(bench: Bench) -> tuple[str, str]:
  child = bench.start("damaged")
  time.sleep(1.0)
  child.kill()
  child.communicate()
  states = checkpoints.StepCheckpoints(bench.work / "damaged" / "checkpoints")
  _flip(next(states.path(states.steps()[-1]).glob("state.data*")))
  output = faults.finish(bench.command("damaged"))
  return re.search(r"checkpoint .* trying the one before", output).group(), bench.verdict("damaged")


def damaged_record(bench: Bench) -> tuple[str, str]:
  data = bench.work / "damaged_data"
  shutil.copytree(bench.data, data)
  shard = sorted(data.glob("train-*.tfrecord"))[-1]
  _flip(shard)
  output = _refused(bench.command("record", data))
  _flip(shard)
  faults.finish(bench.command("record", data))
  return output, bench.verdict("record")


def missing_shard(bench: Bench) -> tuple[str, str]:
  shard = sorted(bench.data.glob("train-*.tfrecord"))[-1]
  away = shard.with_suffix(".away")
  shard.rename(away)
  output = _refused(bench.command("missing"))
  away.rename(shard)
  faults.finish(bench.command("missing"))
  return output, bench.verdict("missing")


def slow_shard(bench: Bench) -> tuple[str, str]:
  done = subprocess.run(_faulty(bench.command("slow"), _SLOW), capture_output=True, text=True)
  return re.search(r"shard .*", done.stderr).group(), bench.verdict("slow")


def full_disk(bench: Bench) -> tuple[str, str]:
  """Trains on a small file system in memory, enlarged before the second try (`unshare`)."""
  run, kept = bench.work / "full", bench.work / "full_kept"
  run.mkdir()
  whole = sum(path.stat().st_size for path in (bench.work / "whole").rglob("*") if path.is_file())
  quoted = " ".join(f"'{part}'" for part in bench.command("full"))
  script = (
    f"mount -t tmpfs -o size={int(0.7 * whole)} tmpfs {run} && {{ {quoted} >/dev/null;"
    f" mount -o remount,size=100m {run}; {quoted} >/dev/null 2>&1; cp -r {run} {kept}; }}"
  )
  done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True)
  run.rmdir()
  if not kept.exists():
    return "this system does not allow mounting a small disk", "not tried"
  kept.rename(run)
  return _last_line(done.stderr), bench.verdict("full")


def not_finite(bench: Bench) -> tuple[str, str]:
  """A record has features that are not finite; they are repaired before the second try."""
  output = _refused(_faulty(bench.command("not_finite"), _poison(bench)))
  faults.finish(bench.command("not_finite"))
  return output, bench.verdict("not_finite")


def passed_over(bench: Bench) -> tuple[str, str]:
  """The same record, which is not repaired."""
  arguments = _faulty([*bench.command("passed_over"), "--on_nan=skip"], _poison(bench))
  done = subprocess.run(arguments, capture_output=True, text=True)
  lines = (bench.work / "passed_over" / "metrics.jsonl").read_text().splitlines()
  skipped = [json.loads(line)["skipped_steps"] for line in lines if "skipped_steps" in line][-1]
  output = re.findall(r"step .* Passed over .*", done.stderr)[0]
  return output, f"ended with code {done.returncode}, {skipped} steps skipped"


def _poison(bench: Bench) -> str:
  return _POISON.replace(
    "IMAGE", prepared_data.PreparedData(bench.data).split("train").image_ids[-1]
  )


def _faulty(arguments: list[str], fault: str) -> list[str]:
  """Returns the command of a training program with a fault in its reader."""
  python, _, *rest = arguments
  return [python, "-c", _PROGRAM.replace("FAULT", fault), *rest]


def lost_worker(bench: Bench) -> tuple[str, str]:
  of_first, of_second = _two_workers()
  other = subprocess.Popen(
    bench.command("lost"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=of_second
  )
  first = bench.start("lost", env=of_first)
  other.kill()
  other.wait()
  _, output = first.communicate()
  faults.finish(bench.command("lost"))
  return _last_line(output), "went on alone from the checkpoint"


def another_folder(bench: Bench) -> tuple[str, str]:
  """Worker 1 has another run folder, without a checkpoint."""
  child = bench.start("own")
  child.kill()
  child.communicate()
  workers = [
    subprocess.Popen(
      bench.command(name), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env
    )
    for name, env in zip(("own", "elsewhere"), _two_workers(), strict=True)
  ]
  output = [worker.communicate()[1] for worker in workers]
  faults.finish(bench.command("own"))
  return _last_line(output[0]), bench.verdict("own")


def _two_workers() -> list[dict[str, str]]:
  """Returns the environments of two workers."""
  sockets = [socket.create_server(("localhost", 0)) for _ in range(2)]
  hosts = [f"localhost:{each.getsockname()[1]}" for each in sockets]
  for each in sockets:
    each.close()
  tasks = [
    {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}} for index in range(2)
  ]
  return [os.environ | {"TF_CONFIG": json.dumps(task)} for task in tasks]


FAULTS: dict[str, Callable[[Bench], tuple[str, str]]] = {
  "SIGTERM": lambda bench: signalled(bench, signal.SIGTERM),
  "Ctrl-C": lambda bench: signalled(bench, signal.SIGINT),
  "SIGKILL": killed,
  "newest checkpoint damaged": damaged_checkpoint,
  "record damaged": damaged_record,
  "shard missing": missing_shard,
  "shard slow": slow_shard,
  "disk full": full_disk,
  "loss not finite": not_finite,
  "loss not finite with --on_nan=skip": passed_over,
  "worker lost": lost_worker,
  "worker with another run folder": another_folder,
}


def _flip(path: pathlib.Path) -> None:
  """Inverts a byte in the middle of a file; a second call restores it."""
  content = bytearray(path.read_bytes())
  content[len(content) // 2] ^= 0xFF
  path.write_bytes(content)


def _refused(arguments: list[str]) -> str:
  done = subprocess.run(arguments, capture_output=True, text=True)
  if done.returncode != 1 or "Traceback" in done.stderr:
    raise errors.UserError(f"expected a refusal, found {done.returncode}: {done.stderr[-500:]}")
  return _last_line(done.stderr)


def _last_line(text: str) -> str:
  """Returns the last line with an error or a stop."""
  lines = [line for line in re.split(r"[\r\n]+", text) if "error: " in line or "stopped" in line]
  return lines[-1].strip() if lines else text[-300:]


def main(_: list[str]) -> None:
  with tempfile.TemporaryDirectory() as temporary:
    bench = Bench(pathlib.Path(temporary))
    print("| fault | what the user sees | run again |\n|---|---|---|")
    for name in _FAULTS.value or FAULTS:
      output, verdict = FAULTS[name](bench)
      print(f"| {name} | `{output.replace(temporary, '...')}` | {verdict} |", flush=True)
  sys.stdout.flush()


if __name__ == "__main__":
  errors.run(main)
