"""Presets and tables of a paper: what to train, what it prints, and what it claims.

A row is a training configuration and the figures that its paper prints for it. A setting
that starts with "@" names another row ("@pos_scan" as teacher) and stands for that row's
run of the same seed, so that a table itself says what must be trained first.
"""

import dataclasses
from typing import Any, Literal

from gcap_tf import errors

REFERENCE = "@"
Printed = dict[str, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Preset:
  """A published training configuration, for `--recipe=NAME`.

  Attributes:
    name: ends with its data: `_f30k` is Flickr30k Entities (29,000 training pictures),
      `_coco` is MS-COCO (113,287).
    training: the whole configuration.
    printed: printed figures by key, in percent; empty if none are printed for this run alone.
    split: the split that they are printed for.
    source: who printed them.
    needs_teacher: whether the run folder of a matcher must be named.
  """

  name: str
  training: Any
  printed: Printed = dataclasses.field(default_factory=dict)
  split: Literal["val", "test"] = "test"
  source: str = ""
  needs_teacher: bool = False

  @property
  def data(self) -> str:
    return self.name.rpartition("_")[2]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ensemble:
  """A printed row that is the mean similarity of several matchers.

  Attributes:
    members: names of presets.
    printed: figures of the test split, in percent.
    source: who printed them.
  """

  members: tuple[str, ...]
  printed: Printed
  source: str


@dataclasses.dataclass(frozen=True)
class Column:
  """A figure of a table: its key in the output of evaluation commands, and its heading."""

  key: str
  heading: str


# Columns that tables of captioners have in common.
CAPTION_COLUMNS = (
  Column("bleu_4", "B@4"),
  Column("cider", "CIDEr"),
  Column("spice", "SPICE"),
  Column("f1_all", "F1_all"),
  Column("f1_loc", "F1_loc"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
  """A model of a table.

  Attributes:
    name: of its folder, and for "@name".
    label: its name in the table.
    training: a training configuration of `gcap_tf/training/methods`.
    printed: the paper's figures by key, in percent.
    listed: False for a run that others need but the table does not show.
    note: what to know when comparing.
  """

  name: str
  label: str
  training: Any
  printed: Printed = dataclasses.field(default_factory=dict)
  listed: bool = True
  note: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
  """The paper's claim that `better` is above (with `lower`: below) `worse` in a figure."""

  better: str
  worse: str
  key: str
  lower: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
  """A paper's comparison.

  Attributes:
    paper: name for `--paper`.
    split: the split that the paper reports.
    printed_data: the dataset of the printed figures; they are shown for no other one.
    printed_regions: how its regions are made: "detector" or "perfect".
    columns, rows, claims: see their classes.
    command: what makes the measured part of the table on drawn scenes.
    cost: time and machine of that command.
    expected: its scores in percent: row -> key -> mean over the seeds.
  """

  paper: str
  split: str
  printed_data: str
  printed_regions: Literal["detector", "perfect"] = "detector"
  columns: tuple[Column, ...]
  rows: tuple[Row, ...]
  claims: tuple[Claim, ...] = ()
  command: str = ""
  cost: str = ""
  expected: dict[str, Printed] = dataclasses.field(default_factory=dict)

  def row(self, name: str) -> Row:
    for row in self.rows:
      if row.name == name:
        return row
    raise errors.UserError(f'no row "{name}"; rows are {", ".join(row.name for row in self.rows)}')

  def compares_with(self, dataset: str, regions: str) -> bool:
    """Whether the printed figures are for this dataset and this kind of regions."""
    wanted = ("perfect",) if self.printed_regions == "perfect" else ("store", "source")
    return dataset == self.printed_data and regions in wanted


def reproduce_command(paper: str, flags: str) -> str:
  """The command line of the measured part of a table."""
  return f"python -m trainers.reproduce --paper={paper} --data=DATA --out=OUT {flags}"


def needs(training: Any) -> list[str]:
  """Names of the rows that a configuration refers to."""
  return [
    value.removeprefix(REFERENCE)
    for value in dataclasses.asdict(training).values()
    if isinstance(value, str) and value.startswith(REFERENCE)
  ]


def resolved(training: Any, folders: dict[str, str]) -> Any:
  """The configuration with run folders in place of "@name"."""
  changes = {
    field.name: folders[value.removeprefix(REFERENCE)]
    for field in dataclasses.fields(training)
    if isinstance(value := getattr(training, field.name), str) and value.startswith(REFERENCE)
  }
  return dataclasses.replace(training, **changes)


def in_order(table: Table, names: list[str] | None = None) -> list[Row]:
  """The rows asked for (None: all) and those they need, each after the ones it needs."""
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
