"""The logs of a run that programs read, besides the progress line that people read."""

import json
import math
import pathlib
import time

from gcap_tf import files


class MetricsLog:
  """`metrics.jsonl`: one object per line, without clock times, so equal runs give equal files."""

  def __init__(self, path: pathlib.Path, writes: bool = True):
    self.path, self.writes = path, writes

  def append(self, values: dict[str, float]) -> None:
    if not self.writes:
      return
    finite = {k: v if math.isfinite(v) else None for k, v in values.items()}
    with self.path.open("a", encoding="utf-8") as file:
      file.write(json.dumps(finite) + "\n")

  def values(self, key: str, step: int) -> list[float]:
    """The values that were logged under a key up to a step, in order."""
    return [line[key] for line in self._lines(step) if line.get(key) is not None]

  def truncate_after(self, step: int) -> None:
    """Drops lines that a killed run wrote after its last checkpoint."""
    if self.path.exists():
      kept = [json.dumps(line) + "\n" for line in self._lines(step)]
      files.write_text(self.path, "".join(kept))

  def _lines(self, step: int) -> list[dict[str, float]]:
    """Lines up to a step, and up to the first incomplete one."""
    kept = []
    if self.path.exists():
      for line in self.path.read_text(encoding="utf-8").splitlines():
        try:
          values = json.loads(line)
          if values["step"] <= step:
            kept.append(values)
        except (json.JSONDecodeError, KeyError):
          break
    return kept


class SpeedLog:
  """`speed.jsonl`: steps per second, waiting for data, memory; different in every run."""

  def __init__(self, path: pathlib.Path, writes: bool = True):
    self.path, self.writes = path, writes
    self._before: tuple[int, float, float] | None = None

  def append(self, step: int, waited: float, memory_gib: float) -> None:
    """Args: the step, total seconds waited for data, peak memory so far."""
    now = time.monotonic()
    if self._before is not None and self.writes and now > self._before[1]:
      steps, seconds = step - self._before[0], now - self._before[1]
      values = {
        "step": step,
        "steps_per_second": round(steps / seconds, 3),
        "data_wait": round((waited - self._before[2]) / seconds, 4),
        "memory_gib": round(memory_gib, 3),
      }
      with self.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(values) + "\n")
    self._before = (step, now, waited)
