"""Works through the runs of several papers: resumable, with a log, a state file and a time limit.

OUT/state.json lists every run in order: done, running, left, failed, or waiting for one that
failed. OUT/log.txt has what the runs print. Each run is a process of its own, so that one that
is killed or runs out of memory ends alone.
"""

import contextlib
import datetime
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

from gcap_tf import files, locks, printing
from gcap_tf.recipes import catalog, experiments, plan, scales
from trainers import reproductions

DONE, RUNNING, LEFT, FAILED, WAITING = "done", "running", "left", "failed", "waiting"
_PATIENCE = 120.0  # Seconds that a run may take to save after its step and end.

States = Sequence[tuple[plan.Step, str]]


def tables(scale: scales.Scale, of_videos: bool = False) -> dict[str, experiments.Table]:
  """The papers' tables at a scale."""
  known = catalog.VIDEO_TABLES if of_videos else catalog.TABLES
  return {paper: catalog.table(paper, scale, of_videos) for paper in known}


def arguments(
  step: plan.Step,
  out: str,
  flags: Mapping[str, str],
  papers: Mapping[str, reproductions.Reproduction],
) -> list[str]:
  """The flags of trainers.reproduce for one run."""
  given = {
    "paper": step.paper,
    "rows": step.row,
    "seeds": str(step.seed),
    "split": papers[step.paper].split,
    "out": out,
    **flags,
  }
  return [*(f"--{name}={value}" for name, value in given.items()), "--notable"]


class Work:
  """The runs of several papers.

  Args:
    out: folder of the log, the state and a folder for each paper.
    papers: by name.
    steps: the runs, in order.
    seeds: of the tables.
  """

  def __init__(
    self,
    out: pathlib.Path,
    papers: Mapping[str, reproductions.Reproduction],
    steps: Sequence[plan.Step],
    seeds: Sequence[int],
  ):
    self.out, self._papers, self._steps, self._seeds = out, papers, list(steps), seeds
    self._failed: dict[str, str] = {}
    self._running: plan.Step | None = None

  def states(self) -> list[tuple[plan.Step, str]]:
    """Each run and whether it is done, running, left, failed, or waits for one that failed."""
    return [(step, self._state(step)) for step in self._steps]

  def _is_ready(self, step: plan.Step) -> bool:
    return all(self._has_run(step.paper, name, step.seed) for name in step.needs)

  def _has_run(self, paper: str, row: str, seed: int) -> bool:
    found = self._papers[paper]
    return found.trained(found.table.row(row), seed) is not None

  def _state(self, step: plan.Step) -> str:
    if step == self._running:
      return RUNNING
    if step.name in self._failed:
      return FAILED
    if self._result(step) is not None:
      return LEFT if self._is_needed_again(step) else DONE
    blocked = any(f"{step.paper}/{row}/seed_{step.seed}" in self._failed for row in step.needs)
    return WAITING if blocked else LEFT

  def _is_needed_again(self, step: plan.Step) -> bool:
    """Whether a run that is finished elsewhere must be trained here for one that is not."""
    if self._has_run(step.paper, step.row, step.seed):
      return False
    return any(
      step.row in other.needs and self._state(other) != DONE
      for other in self._steps
      if (other.paper, other.seed) == (step.paper, step.seed)
    )

  def _result(self, step: plan.Step) -> dict | None:
    paper = self._papers[step.paper]
    return paper.kept(paper.table.row(step.row), step.seed)

  def go(self, command_of: Callable[[plan.Step], list[str]], hours: float = 0.0) -> int:
    """Trains what is left; returns 1 if a run failed, 130 if it was stopped, else 0.

    Args:
      command_of: the command line of a run.
      hours: no run is started that is expected to end later; 0 is no limit.
    """
    limit = time.monotonic() + hours * 3600 if hours else float("inf")
    self.out.mkdir(parents=True, exist_ok=True)
    with locks.hold(self.out), open(self.out / "log.txt", "a", encoding="utf-8") as log, _stops():
      try:
        self._write()
        for number, step in enumerate(self._steps, 1):
          late = time.monotonic() + 60 * step.minutes > limit
          if late or self._state(step) != LEFT or not self._is_ready(step):
            continue
          self._say(log, f"[{number}/{len(self._steps)}] {step.name}, about {step.minutes:.0f} min")
          self._train(step, command_of(step), log)
        stopped = False
      except KeyboardInterrupt:
        stopped = True
      finally:
        self._running = None
        self._write()
      self._say(log, f"{'stopped: ' if stopped else ''}{summary(self.states())}")
    for name, error in self._failed.items():
      print(f"failed: {name}: {error}; see {self.out / 'log.txt'}", file=sys.stderr)
    return 130 if stopped else 1 if self._failed else 0

  def _train(self, step: plan.Step, arguments: Sequence[str], log: IO[str]) -> None:
    self._running = step
    self._write_state()
    started = log.tell()
    process = subprocess.Popen(
      arguments, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
      start_new_session=True,
    )  # fmt: skip
    try:
      code = process.wait()
    finally:
      _end(process)
      self._running = None
    if code or self._result(step) is None:
      self._failed[step.name] = f"exit code {code}: {_last_line(self.out / 'log.txt', started)}"
      self._say(log, f"failed: {step.name}: {self._failed[step.name]}")
    self._write(step.paper)

  def _write(self, only: str = "") -> None:
    """The state, and the tables of one paper or of all."""
    self._write_state()
    for name, paper in self._papers.items():
      if not only or name == only:
        mine = {step.row for step in self._steps if step.paper == name}
        paper.write([row for row in paper.table.rows if row.name in mine], self._seeds)

  def _write_state(self) -> None:
    steps = []
    for step, state in self.states():
      result = self._result(step) if state == DONE else None
      steps.append(
        {
          "run": step.name,
          "state": state,
          "expected_minutes": step.minutes,
          "minutes": round(result["minutes"], 2) if result else None,
          "error": self._failed.get(step.name, ""),
        }
      )
    states = [step["state"] for step in steps]
    counts = {state: states.count(state) for state in (DONE, RUNNING, LEFT, WAITING, FAILED)}
    files.write_json(self.out / "state.json", {**counts, "runs": steps}, indent=1)

  @staticmethod
  def _say(log: IO[str], text: str) -> None:
    now = datetime.datetime.now().isoformat(" ", "seconds")
    print(f"{now} {text}", flush=True)
    print(f"{now} == {text}", file=log, flush=True)


def _end(process: subprocess.Popen) -> None:
  """Asks a process that still runs to end, then ends it."""
  if process.poll() is None:
    process.terminate()
    try:
      process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
      process.kill()
      process.wait()


@contextlib.contextmanager
def _stops() -> Iterator[None]:
  """SIGTERM and a closed terminal stop as Ctrl-C does; nohup still keeps the program alive."""

  def stop(*_) -> None:
    raise KeyboardInterrupt

  numbers = (signal.SIGTERM, signal.SIGHUP)
  before = {number: signal.getsignal(number) for number in numbers}
  for number in numbers:
    if before[number] is not signal.SIG_IGN:
      signal.signal(number, stop)
  try:
    yield
  finally:
    for number in numbers:
      signal.signal(number, before[number])


def _last_line(path: pathlib.Path, start: int) -> str:
  with open(path, "rb") as file:
    file.seek(start)
    lines = file.read().decode("utf-8", "replace").replace("\r", "\n").split("\n")
  said = [line.strip() for line in lines if line.strip()]
  wrong = [line for line in said if line.startswith("error: ")]
  return (wrong or said or ["it printed nothing"])[-1][:300]


def summary(states: States) -> str:
  """What is done and what is left, in one line."""
  counts = {name: sum(state == name for _, state in states) for name in (DONE, FAILED)}
  rest = [step for step, state in states if state in (LEFT, RUNNING, WAITING, FAILED)]
  hours = sum(step.minutes for step in rest) / 60
  text = f"{printing.count(counts[DONE], 'run')} done, {len(rest)} left, about {hours:.1f} hours"
  return text + (f", {counts[FAILED]} of them failed" if counts[FAILED] else "")


def listing(states: States) -> str:
  """One line a row: its seeds' states and the minutes of a run; then the papers' hours left."""
  rows: dict[tuple[str, str], list[tuple[plan.Step, str]]] = {}
  for step, state in states:
    rows.setdefault((step.paper, step.row), []).append((step, state))
  lines = []
  for (paper, row), runs in rows.items():
    seeds = ", ".join(f"seed {step.seed} {state}" for step, state in runs)
    lines.append(f"{paper:12} {row:28} {runs[0][0].minutes:5.1f} min a run   {seeds}")
  left: dict[str, float] = {}
  for step, state in states:
    left[step.paper] = left.get(step.paper, 0.0) + (0.0 if state == DONE else step.minutes / 60)
  lines += ["", *(f"{paper:12} {hours:5.1f} hours left" for paper, hours in left.items())]
  return "\n".join([*lines, summary(states)])
