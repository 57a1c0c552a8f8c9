"""What a paper's table compares: rows to train, figures to print, claims to check.

A row is a training configuration and the figures that its paper prints for it. A setting
that starts with "@" names another row ("@pos_scan" as teacher) and stands for that row's
run of the same seed, so that a table says by itself what must be trained first.
"""

import dataclasses
from typing import Any

from gcap_tf import errors

REFERENCE = "@"


@dataclasses.dataclass(frozen=True)
class Column:
  """A figure of a table.

  Attributes:
    key: its name in what evaluation commands print.
    heading: as papers head it.
    factor: from our scale to the paper's; 100 where we print fractions of 1.
  """

  key: str
  heading: str
  factor: float = 1.0


# What tables of captioners have in common.
CAPTION_COLUMNS = (
  Column("bleu_4", "B@4"),
  Column("cider", "CIDEr"),
  Column("spice", "SPICE"),
  Column("f1_all", "F1_all", 100.0),
  Column("f1_loc", "F1_loc", 100.0),
)


@dataclasses.dataclass(frozen=True)
class Row:
  """A model of a table.

  Attributes:
    name: of its folder, and for "@name".
    label: as the table calls it.
    training: a training configuration of `gcap_tf/training`.
    printed: the paper's figures by key, on the paper's scale.
    listed: False for a run that others need but the table does not show.
    note: what to know when comparing.
  """

  name: str
  label: str
  training: Any
  printed: dict[str, float] = dataclasses.field(default_factory=dict)
  listed: bool = True
  note: str = ""


@dataclasses.dataclass(frozen=True)
class Claim:
  """That `better` is above (or, where `lower`, below) `worse` in a figure."""

  better: str
  worse: str
  key: str
  lower: bool = False


@dataclasses.dataclass(frozen=True)
class Table:
  """Attributes:
  paper: where its rows come from.
  split: the split that the paper judges on.
  columns, rows, claims: see their classes.
  """

  paper: str
  split: str
  columns: tuple[Column, ...]
  rows: tuple[Row, ...]
  claims: tuple[Claim, ...] = ()

  def row(self, name: str) -> Row:
    for row in self.rows:
      if row.name == name:
        return row
    raise errors.UserError(f'no row "{name}"; rows are {", ".join(row.name for row in self.rows)}')


def needs(training: Any) -> list[str]:
  """Names of the rows that a configuration refers to."""
  return [
    value.removeprefix(REFERENCE)
    for value in dataclasses.asdict(training).values()
    if isinstance(value, str) and value.startswith(REFERENCE)
  ]


def resolved(training: Any, folders: dict[str, str]) -> Any:
  """The configuration with run folders in the place of "@name"."""
  changes = {
    field.name: folders[value.removeprefix(REFERENCE)]
    for field in dataclasses.fields(training)
    if isinstance(value := getattr(training, field.name), str) and value.startswith(REFERENCE)
  }
  return dataclasses.replace(training, **changes)


def in_order(table: Table, names: list[str] | None = None) -> list[Row]:
  """The rows asked for (None: all) and those they need, each after what it needs."""
  ordered: list[Row] = []

  def visit(row: Row, path: tuple[str, ...]) -> None:
    if row.name in path:
      raise errors.UserError(f"rows need each other: {' -> '.join((*path, row.name))}")
    for needed in needs(row.training):
      visit(table.row(needed), (*path, row.name))
    if row not in ordered:
      ordered.append(row)

  for name in names or [row.name for row in table.rows]:
    visit(table.row(name), ())
  return ordered
