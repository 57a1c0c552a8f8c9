"""Tables of a reproduction: means over seeds, the paper's figures, and its claims.

table.json has, for every row, the figures and the cost of every seed, and the commands that
made them; table.md and a page of several tables are made from table.json alone. The paper's
figures are shown only for the data and the kind of regions that they are printed for.
"""

import dataclasses
import math
import re
import statistics
from collections.abc import Sequence
from typing import Any

from gcap_tf.recipes import claims, correlations, experiments, settings

_PATH = re.compile(r"--(source|pictures|folds|object_classes|data|out|rows_from|rows_to)=\S+")

# Results of a row: seed -> {"figures": {key: value in percent}, "minutes": float}.
Runs = dict[int, dict[str, Any]]


def summarise(
  table: experiments.Table,
  scale: str,
  setting: settings.Setting,
  data: str,
  runs: dict[str, Runs],
  commands: Sequence[str] = (),
  statistics: claims.Statistics | None = None,
  least_seeds: int = 1,
) -> dict[str, Any]:
  """The content of table.json.

  Args:
    table: the comparison.
    scale, data: its conditions, in words.
    setting: what the runs were measured on; the paper's figures are shown if it has any for it.
    runs: results of every trained row.
    commands: what makes it again.
    statistics: of the runs' pictures, for the intervals of claims.
    least_seeds: with fewer seeds of both rows, the verdict of a claim is open.
  """
  trained = [row for row in table.rows if row.name in runs]
  rows = [_summarise_row(table, row, runs[row.name], setting) for row in trained]
  return {
    "paper": table.paper,
    "scale": scale,
    "split": setting.split,
    "data": data,
    "commands": [without_paths(command) for command in commands],
    "columns": [[column.key, column.heading] for column in table.columns],
    "rows": rows,
    "claims": [
      found
      for claim in table.claims
      if (found := claims.judge(table, claim, runs, statistics or {}, least_seeds)) is not None
    ],
    "correlations": [
      found for each in table.correlations if (found := correlations.summarise(each, runs))
    ],
    "best": _best(rows, table.best),
    "departures": list(table.departures),
    "scale_departures": experiments.group_departures(trained),
    "printed_split": _printed_split(trained, setting),
  }


def _best(rows: Sequence[dict[str, Any]], key: str) -> dict[str, Any] | None:
  """The row of a search with the largest figure."""
  found = [row for row in rows if key in row["figures"]]
  if not found:
    return None
  row = max(found, key=lambda row: row["figures"][key]["mean"])
  return {"name": row["name"], "label": row["label"], "key": key}


def _printed_split(rows: Sequence[experiments.Row], setting: settings.Setting) -> str:
  """The split of the figures in brackets, if it is not the measured one."""
  exact = any(setting in row.printed for row in rows)
  splits = {
    known.split
    for row in rows
    for known in row.printed
    if dataclasses.replace(known, split=setting.split) == setting
  }
  return "" if exact or not splits else splits.pop()


def _summarise_row(
  table: experiments.Table, row: experiments.Row, runs: Runs, setting: settings.Setting
) -> dict[str, Any]:
  figures, printed = {}, row.printed_for(setting)
  for column in table.columns:
    values = [
      run["figures"][column.key]
      for run in runs.values()
      if run["figures"].get(column.key) is not None
    ]
    if values:
      figures[column.key] = {
        "mean": statistics.fmean(values),
        "std": statistics.stdev(values) if len(values) > 1 else 0.0,
        "seeds": values,
        "paper": printed.get(column.key),
      }
  return {
    "name": row.name,
    "label": row.label,
    "listed": row.listed,
    "note": row.note,
    "seeds": sorted(runs),
    "minutes": statistics.fmean(run["minutes"] for run in runs.values()),
    "figures": figures,
  }


def without_paths(command: str) -> str:
  """A command line to show, with the flag's name in place of a folder or file."""
  return _PATH.sub(lambda found: f"--{found[1]}={found[1].upper()}", command)


def page(title: str, tables: Sequence[dict[str, Any]], head: str = "") -> str:
  """One page of several tables: commands, figures, and which claims hold; `head` above them."""
  parts = [f"# {title}\n", *([head] if head else [])]
  for table in tables:
    heading = f"## {table['paper']}: {table['data']}, {table['split']} split\n"
    parts += [heading, *(f"    {line}" for line in table["commands"]), "", markdown(table)]
  return "\n".join(parts)


def markdown(table: dict[str, Any]) -> str:
  """table.md of a table.json: our figures, the paper's in brackets, and which claims hold."""
  headings = dict(table["columns"])
  keys = [key for key, _ in table["columns"]]
  lines = [
    f"Data: {table['data']}, {table['split']} split; scale: {table['scale']}. "
    f"Figures are means over seeds ± standard deviation{_about_brackets(table)}",
    "",
    "| | " + " | ".join(headings.values()) + " | seeds | minutes a run |",
    "|---" * (len(keys) + 3) + "|",
  ]
  for row in table["rows"]:
    if row["listed"]:
      cells = [_cell(row["figures"].get(key)) for key in keys]
      last = [str(len(row["seeds"])), f"{row['minutes']:.1f}"]
      lines.append("| " + " | ".join([row["label"], *cells, *last]) + " |")
  notes = [f"- {row['label']}: {row['note']}" for row in table["rows"] if row["note"]]
  judged = [
    claims.sentence(claim, headings.get(claim["key"], claim["key"])) for claim in table["claims"]
  ]
  found = [correlations.sentence(each, headings) for each in table.get("correlations", [])]
  if table.get("best"):
    best = table["best"]
    found.append(f"- Best {headings.get(best['key'], best['key'])}: {best['label']}.")
  return "\n".join([*lines, "", *notes, *judged, *found, *_about_departures(table), ""])


def _about_departures(table: dict[str, Any]) -> list[str]:
  """What differs from the paper at every scale, and what this scale replaces."""
  lines = [f"- {sentence}" for sentence in table.get("departures", [])]
  if lines:
    lines = ["", "Departures at every scale:", "", *lines]
  changed = table.get("scale_departures", {})
  if changed:
    every = {row["name"] for row in table["rows"]}
    lines += ["", f"Departures of the scale {table['scale']}:", ""]
    for sentence, rows in changed.items():
      whose = "" if set(rows) >= every else f" ({', '.join(rows)})"
      lines.append(f"- {sentence}{whose}")
  return lines


def _cell(figure: dict[str, Any] | None) -> str:
  if figure is None:
    return "-"
  text = f"{figure['mean']:.2f}"
  if len(figure["seeds"]) > 1:
    text += f" ± {figure['std']:.2f}"
  if figure["paper"] is not None:
    text += f" ({figure['paper']:g}, {figure['mean'] - figure['paper']:+.2f})"
  return text


def _about_brackets(table: dict[str, Any]) -> str:
  figures = [figure for row in table["rows"] for figure in row["figures"].values()]
  if any(figure["paper"] is not None for figure in figures):
    split = table.get("printed_split")
    return f"; the paper's figure{f' of its {split} split' if split else ''} is in brackets."
  return ". The paper's figures are for other data and are not shown."


def is_finite(figures: dict[str, Any]) -> bool:
  """Whether every figure is finite; a run that diverged must not enter a mean."""
  return all(math.isfinite(v) for v in figures.values() if isinstance(v, (int, float)))
