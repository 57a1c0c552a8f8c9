"""Pictures of a table: figures over a swept number, and F1 over the frequency of classes."""

import pathlib
import re
import statistics
from collections.abc import Mapping
from typing import Any

from gcap_tf import files
from gcap_tf.recipes import experiments
from gcap_tf.visuals import line_chart

_GROUP = re.compile(r"f1_all_classes_(\d+)_(\d+)")
_LEAST = 2  # Points of a line.

# Row -> seed -> {"figures": figure -> value}.
Runs = Mapping[str, Mapping[int, Mapping[str, Any]]]


def draw_all(out: pathlib.Path, table: experiments.Table, runs: Runs) -> list[pathlib.Path]:
  """Writes OUT/NAME.png for each curve that has two points or more; returns the files."""
  headings = {column.key: column.heading for column in table.columns}
  written = []
  for curve in table.curves:
    lines = {headings.get(key, key): _line(curve, key, runs) for key in curve.keys}
    lines = {name: line for name, line in lines.items() if len(line) >= _LEAST}
    if lines:
      written.append(out / f"{curve.name}.png")
      _save(written[-1], line_chart.draw(lines, curve.title, curve.axis))
  groups, lines = frequency_lines(table, runs)
  if lines:
    written.append(out / "class_frequency.png")
    title = "F1_all by the frequency of classes in training"
    chart = line_chart.draw(lines, title, "rank of the class", common=True, labels=groups)
    _save(written[-1], chart)
  return written


def _line(curve: experiments.Curve, key: str, runs: Runs) -> list[tuple[float, float]]:
  points = []
  for row, number in curve.points.items():
    value = _mean(runs.get(row, {}), key)
    if value is not None:
      points.append((number, value))
  return sorted(points)


def frequency_lines(
  table: experiments.Table, runs: Runs
) -> tuple[list[str], dict[str, list[tuple[float, float]]]]:
  """Groups of classes by rank, and a line for each of the table's rows of Figure 4."""
  keys = sorted(
    {
      key
      for row in table.frequency_rows
      for run in runs.get(row, {}).values()
      for key in run["figures"]
      if _GROUP.fullmatch(key)
    },
    key=lambda key: int(_GROUP.fullmatch(key)[1]),
  )
  groups = ["-".join(_GROUP.fullmatch(key).groups()) for key in keys]
  lines = {}
  for row in table.frequency_rows:
    values = [_mean(runs.get(row, {}), key) for key in keys]
    line = [(float(n), value) for n, value in enumerate(values) if value is not None]
    if line:
      lines[table.row(row).label] = line
  return groups, lines


def _mean(runs: Mapping[int, Mapping[str, Any]], key: str) -> float | None:
  values = [run["figures"][key] for run in runs.values() if run["figures"].get(key) is not None]
  return statistics.fmean(values) if values else None


def _save(path: pathlib.Path, picture) -> None:
  with files.atomic_path(path) as partial:
    picture.save(partial, format="PNG")
