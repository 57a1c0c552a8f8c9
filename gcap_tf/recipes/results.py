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

from gcap_tf.recipes import experiments

_PATH = re.compile(r"--(source|object_classes|data|out)=\S+")

# Results of a row: seed -> {"figures": {key: value in percent}, "minutes": float}.
Runs = dict[int, dict[str, Any]]


def summarise(
  table: experiments.Table,
  scale: str,
  split: str,
  data: str,
  runs: dict[str, Runs],
  commands: Sequence[str] = (),
  compare: bool = True,
) -> dict[str, Any]:
  """The content of table.json.

  Args:
    table: the comparison.
    scale, split, data: its conditions.
    runs: results of every trained row.
    commands: what makes it again.
    compare: whether the paper's figures are for the same data and kind of regions.
  """
  if not compare:
    bare = tuple(dataclasses.replace(row, printed={}) for row in table.rows)
    table = dataclasses.replace(table, rows=bare)
  rows = [_summarise_row(table, row, runs[row.name]) for row in table.rows if row.name in runs]
  means = {row["name"]: {key: f["mean"] for key, f in row["figures"].items()} for row in rows}
  return {
    "paper": table.paper,
    "scale": scale,
    "split": split,
    "data": data,
    "commands": [without_paths(command) for command in commands],
    "columns": [[column.key, column.heading] for column in table.columns],
    "rows": rows,
    "claims": [
      _judge(table, claim, means)
      for claim in table.claims
      if claim.key in means.get(claim.better, {}) and claim.key in means.get(claim.worse, {})
    ],
  }


def _summarise_row(table: experiments.Table, row: experiments.Row, runs: Runs) -> dict[str, Any]:
  figures = {}
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
        "paper": row.printed.get(column.key),
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


def _judge(
  table: experiments.Table, claim: experiments.Claim, means: dict[str, dict[str, float]]
) -> dict[str, Any]:
  better, worse = means[claim.better][claim.key], means[claim.worse][claim.key]
  printed = [table.row(name).printed.get(claim.key) for name in (claim.better, claim.worse)]
  return {
    "better": table.row(claim.better).label,
    "worse": table.row(claim.worse).label,
    "key": claim.key,
    "lower": claim.lower,
    "ours": [better, worse],
    "paper": printed if None not in printed else None,
    "holds": better < worse if claim.lower else better > worse,
  }


def without_paths(command: str) -> str:
  """A command line to show, with the flag's name in place of a folder or file."""
  return _PATH.sub(lambda found: f"--{found[1]}={found[1].upper()}", command)


def page(title: str, tables: Sequence[dict[str, Any]]) -> str:
  """One page of several tables: commands, figures, and which claims hold."""
  parts = [f"# {title}\n"]
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
  claims = [_sentence(claim, headings) for claim in table["claims"]]
  return "\n".join([*lines, "", *notes, *claims, ""])


def _cell(figure: dict[str, Any] | None) -> str:
  if figure is None:
    return "-"
  text = f"{figure['mean']:.2f}"
  if len(figure["seeds"]) > 1:
    text += f" ± {figure['std']:.2f}"
  if figure["paper"] is not None:
    text += f" ({figure['paper']:g}, {figure['mean'] - figure['paper']:+.2f})"
  return text


def _sentence(claim: dict[str, Any], headings: dict[str, str]) -> str:
  side = "below" if claim["lower"] else "above"
  verdict = "Holds" if claim["holds"] else "**Does not hold here**"
  ours = " against ".join(f"{value:.2f}" for value in claim["ours"])
  paper = ""
  if claim["paper"]:
    paper = "; in the paper " + " against ".join(f"{value:g}" for value in claim["paper"])
  name = headings.get(claim["key"], claim["key"])
  return f"- {verdict}: {claim['better']} is {side} {claim['worse']} in {name} ({ours}{paper})."


def _about_brackets(table: dict[str, Any]) -> str:
  figures = [figure for row in table["rows"] for figure in row["figures"].values()]
  if any(figure["paper"] is not None for figure in figures):
    return "; the paper's figure is in brackets."
  return ". The paper's figures are for other data and are not shown."


def is_finite(figures: dict[str, Any]) -> bool:
  """Whether every figure is finite; a run that diverged must not enter a mean."""
  return all(math.isfinite(v) for v in figures.values() if isinstance(v, (int, float)))
