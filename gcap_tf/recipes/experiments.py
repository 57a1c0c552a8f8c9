"""Presets and tables of a paper: what to train, what it prints, and what it claims.

A row is a training configuration and the figures that its paper prints for it, by what they are
printed for (data, split, kind of regions). A field of a configuration that starts with "@" names
another row ("@pos_scan" as teacher) and stands for that row's run of the same seed, so that a
table itself says what must be trained first.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.recipes import settings

REFERENCE = "@"
Printed = dict[str, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Preset:
  """A published training configuration, for `--recipe=NAME`.

  Attributes:
    name: ends with its data: `_f30k` is Flickr30k Entities (29,000 training pictures),
      `_coco` is MS-COCO (113,287), `_anet` is ActivityNet-Entities.
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


def columns(**headings: str) -> tuple[Column, ...]:
  """Columns by key, in order: `columns(cider="CIDEr")`."""
  return tuple(Column(key, heading) for key, heading in headings.items())


# Columns that tables of captioners have in common.
CAPTION_COLUMNS = columns(
  **dict(bleu_1="B@1", bleu_4="B@4", meteor="METEOR", cider="CIDEr", spice="SPICE"),
  **dict(f1_all="F1_all", f1_loc="F1_loc"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
  """A model of a table.

  Attributes:
    name: of its folder, and for "@name".
    label: its name in the table.
    training: a training configuration of `gcap_tf/training/methods`, or an `Average`.
    printed: what the paper prints for it: setting -> figures by key, in percent.
    published: the published configuration, if `training` departs from it (`scales.py`).
    listed: False for a run that others need but the table does not show.
    note: what to know when comparing.
  """

  name: str
  label: str
  training: Any
  printed: Mapping[settings.Setting, Printed] = dataclasses.field(default_factory=dict)
  published: Any = None
  listed: bool = True
  note: str = ""

  def printed_for(self, setting: settings.Setting) -> Printed:
    """The paper's figures for a setting; if it has none, those of the data's other split.

    Nothing fits other data, other regions, or a part of the data's pictures.
    """
    if setting in self.printed:
      return self.printed[setting]
    for known, figures in self.printed.items():
      if dataclasses.replace(known, split=setting.split) == setting:
        return figures
    return {}

  @property
  def departures(self) -> dict[str, tuple[Any, Any]]:
    """Options that differ from the published ones: name -> (published, here)."""
    return {} if self.published is None else differences(self.published, self.training)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
  """The paper's claim that `better` is above (with `lower`: below) `worse` in a figure.

  Attributes:
    better, worse: rows.
    key: the figure.
    lower: whether less is better.
    printed: the paper's pair, if it is another than the rows' own figures: those of one table
      where the rows have figures of several.
    setting: what that pair is printed for.
  """

  better: str
  worse: str
  key: str
  lower: bool = False
  printed: tuple[float, float] | None = None
  setting: settings.Setting = settings.F30K_TEST


@dataclasses.dataclass(frozen=True, kw_only=True)
class Average:
  """An ensemble: the mean similarity of other rows' matchers. Nothing is trained.

  Attributes:
    members: names of rows, each with "@" before it.
  """

  members: tuple[str, ...]
  seed: int = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curve:
  """A line to plot: a figure of rows that differ in one number.

  Attributes:
    name: of its picture.
    title: above it.
    axis: what the number is.
    points: row -> the number.
    keys: figures to draw.
  """

  name: str
  title: str
  axis: str
  points: Mapping[str, float]
  keys: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Correlation:
  """Pearson's correlation of two figures over the runs of some rows.

  Attributes:
    label: what the rows have in common.
    rows: their names.
    keys: the two figures.
    printed: the paper's coefficient.
  """

  label: str
  rows: tuple[str, ...]
  keys: tuple[str, str]
  printed: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
  """A paper's comparison.

  Attributes:
    paper: name for `--paper`.
    split: the split that the paper reports.
    columns, rows, claims: see their classes.
    departures: what differs from the paper at every scale, a sentence each.
    elsewhere: rows of the paper's tables that are not among `rows`, and where they are.
    curves: lines to plot from the rows.
    frequency_rows: rows whose F1_all is plotted over the frequency of classes.
    correlations: of figures over runs.
    best: figure whose best row a search is for, or "".
    command: what makes the measured part of the table on drawn scenes.
    cost: time and machine of that command.
    expected: its scores in percent: row -> key -> mean over the seeds.
  """

  paper: str
  split: str
  columns: tuple[Column, ...]
  rows: tuple[Row, ...]
  claims: tuple[Claim, ...] = ()
  departures: tuple[str, ...] = ()
  elsewhere: tuple[str, ...] = ()
  curves: tuple[Curve, ...] = ()
  frequency_rows: tuple[str, ...] = ()
  correlations: tuple[Correlation, ...] = ()
  best: str = ""
  command: str = ""
  cost: str = ""
  expected: dict[str, Printed] = dataclasses.field(default_factory=dict)

  def row(self, name: str) -> Row:
    for row in self.rows:
      if row.name == name:
        return row
    raise errors.UserError(f'no row "{name}"; rows are {", ".join(row.name for row in self.rows)}')


def reproduce_command(paper: str, flags: str) -> str:
  """The command line of the measured part of a table."""
  return f"python -m trainers.reproduce --paper={paper} --data=DATA --out=OUT {flags}"


def needs(training: Any) -> list[str]:
  """Names of the rows that a configuration refers to."""
  values = [getattr(training, field.name) for field in dataclasses.fields(training)]
  texts = [text for value in values for text in (value if isinstance(value, tuple) else (value,))]
  return [text.removeprefix(REFERENCE) for text in texts if _is_reference(text)]


def resolved(training: Any, folders: dict[str, str]) -> Any:
  """The configuration with run folders in place of "@name"."""

  def resolve(value: Any) -> Any:
    if isinstance(value, tuple):
      return tuple(map(resolve, value))
    return folders[value.removeprefix(REFERENCE)] if _is_reference(value) else value

  values = {field.name: getattr(training, field.name) for field in dataclasses.fields(training)}
  changes = {name: found for name, value in values.items() if (found := resolve(value)) != value}
  return dataclasses.replace(training, **changes)


def _is_reference(value: Any) -> bool:
  return isinstance(value, str) and value.startswith(REFERENCE)


def differences(published: Any, used: Any) -> dict[str, tuple[Any, Any]]:
  """Options of two configurations that differ: dotted name -> (published, used)."""
  first, second = _flat(configs.to_dict(published)), _flat(configs.to_dict(used))
  names = [*first, *(name for name in second if name not in first)]
  return {
    name: (first.get(name), second.get(name))
    for name in names
    if first.get(name) != second.get(name)
  }


def _flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
  found: dict[str, Any] = {}
  for name, entry in value.items():
    found |= _flat(entry, f"{prefix}{name}.") if isinstance(entry, dict) else {prefix + name: entry}
  return found


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


def to_train(
  table: Table,
  names: Sequence[str],
  is_done: Callable[[str], bool],
  has_run: Callable[[str], bool],
) -> list[Row]:
  """The rows to train for the results of `names`, in order.

  Args:
    table: of the rows.
    names: the rows asked for; those that they need are asked for too.
    is_done: whether a row has a result.
    has_run: whether it has a run folder as well, which rows that need it can use.
  """
  found: list[Row] = []

  def visit(row: Row) -> None:
    for needed in needs(row.training):
      if not has_run(needed):
        visit(table.row(needed))
    if row not in found:
      found.append(row)

  for row in in_order(table, list(names)):
    if not is_done(row.name):
      visit(row)
  return found


def group_departures(rows: Sequence[Row]) -> dict[str, list[str]]:
  """Sentences about what rows change of their published options -> names of these rows."""
  found: dict[str, list[str]] = {}
  for row in rows:
    for name, (published, used) in row.departures.items():
      found.setdefault(f"{name} {used} instead of {published}", []).append(row.name)
  return found
