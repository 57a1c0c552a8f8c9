"""The runs and the tables of one paper on one prepared folder."""

import dataclasses
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from gcap_tf import errors, files
from gcap_tf.data.prepared import contents, prepared_data
from gcap_tf.recipes import curves, experiments, results, row_files, scales, settings
from gcap_tf.training.methods import matching
from trainers import reproduce_rows


@dataclasses.dataclass(frozen=True)
class Reproduction:
  """What a table's rows are trained and judged on.

  Attributes:
    table: rows and claims, at the scale.
    scale: sizes and seeds.
    data: prepared folder.
    split: what is reported.
    out: folder of runs and tables.
    metrics: of captions.
    rows_to: folder for a small file of each finished run; default: OUT/rows.
    rows_from: folders of such files. A run in one of them is not trained, unless a row that is
      trained here needs its run folder.
  """

  table: experiments.Table
  scale: scales.Scale
  data: prepared_data.PreparedData
  split: str
  out: pathlib.Path
  metrics: tuple[str, ...]
  rows_to: pathlib.Path | None = None
  rows_from: tuple[pathlib.Path, ...] = ()
  _taken: dict[tuple[str, int], row_files.Finished | None] = dataclasses.field(
    default_factory=dict, repr=False
  )

  @property
  def _retrieved(self) -> int:
    asks = any(column.key.startswith("self_retrieval") for column in self.table.columns)
    return self.scale.retrieved if asks else 0

  def train(self, row: experiments.Row, seed: int) -> dict[str, Any]:
    """The result of a run here; trained and evaluated unless that is done."""
    return reproduce_rows.run(
      row, seed, self.data, self.split, self.out, self.metrics, self._retrieved
    )

  def kept(self, row: experiments.Row, seed: int) -> dict[str, Any] | None:
    """The result of a run that is done, here or in a file; None if it is not."""
    own = self.trained(row, seed)
    if own is not None:
      return own
    found = self.taken(row, seed)
    return None if found is None else found.result

  def trained(self, row: experiments.Row, seed: int) -> dict[str, Any] | None:
    """The result of a run that is done here; None if it is not."""
    return reproduce_rows.kept(
      row, seed, self.data, self.split, self.out, self.metrics, self._retrieved
    )

  def taken(self, row: experiments.Row, seed: int) -> row_files.Finished | None:
    """A run of `rows_from`; None if there is none with these settings and data."""
    if (row.name, seed) not in self._taken:
      self._taken[row.name, seed] = self._take(row, seed)
    return self._taken[row.name, seed]

  def _take(self, row: experiments.Row, seed: int) -> row_files.Finished | None:
    for folder in self.rows_from:
      path = row_files.path_of(folder, self.table.paper, row.name, seed)
      if not path.exists():
        continue
      try:
        found = row_files.read(path)
        reason = self._misfit(row, seed, found)
      except errors.UserError as error:
        reason = str(error)
      if not reason:
        return found
      print(f"not taken: {path}: {reason}", file=sys.stderr, flush=True)
    return None

  def _misfit(self, row: experiments.Row, seed: int, found: row_files.Finished) -> str:
    """Why a file is not of this run, or ""."""
    own = contents.fingerprint(self.data)
    if found.data != own:
      words = found.about.get("data_in_words", "")
      return f"its data are {words} ({found.data}), here {describe_data(self.data)} ({own})"
    return row_files.difference(self.table, found.settings, self._settings(row, seed))

  def _settings(self, row: experiments.Row, seed: int) -> dict[str, Any]:
    evaluation: dict[str, Any] = {"split": self.split}
    if not isinstance(row.training, (matching.MatcherTrainingConfig, experiments.Average)):
      evaluation |= {"metrics": sorted(self.metrics), "self_retrieval": self._retrieved}
    return row_files.settings_of(self.table, row, seed, evaluation)

  def to_train(self, names: Sequence[str], seed: int) -> list[experiments.Row]:
    """The rows to train for the results of `names`, in order."""

    def is_done(name: str) -> bool:
      return self.kept(self.table.row(name), seed) is not None

    def has_run(name: str) -> bool:
      return self.trained(self.table.row(name), seed) is not None

    return experiments.to_train(self.table, names, is_done, has_run)

  def write(self, rows: Sequence[experiments.Row], seeds: Sequence[int]) -> bool:
    """table.json, table.md and pictures of the runs that are done; False if none is."""
    done: dict[str, results.Runs] = {}
    statistics: dict[str, dict] = {}
    for row in rows:
      found = {seed: run for seed in seeds if (run := self._finished(row, seed)) is not None}
      if found:
        done[row.name] = {seed: run.result for seed, run in found.items()}
        statistics[row.name] = {seed: run.statistics for seed, run in found.items()}
    if not done:
      return False
    summary = results.summarise(
      self.table,
      self.scale.label,
      setting(self.data, self.split),
      describe_data(self.data),
      done,
      self._commands(),
      statistics,
      least_seeds=min(2, len(seeds)),
    )
    files.write_json(self.out / "table.json", summary)
    files.write_text(self.out / "table.md", results.markdown(summary))
    curves.draw_all(self.out, self.table, done)
    return True

  def _finished(self, row: experiments.Row, seed: int) -> row_files.Finished | None:
    """A run that is done, here or in a file; one that is done here gets its file."""
    own = self.trained(row, seed)
    if own is None:
      return self.taken(row, seed)
    columns = {column.key for column in self.table.columns}
    statistics = reproduce_rows.statistics(self.out, row.name, seed)
    found = row_files.Finished(
      self._settings(row, seed),
      own.get("data", ""),
      own["figures"],
      own["minutes"],
      {key: statistic for key, statistic in statistics.items() if key in columns},
      self._about(row, seed),
    )
    folder = self.rows_to or self.out / "rows"
    path = row_files.path_of(folder, self.table.paper, row.name, seed)
    since = reproduce_rows.finished_at(self.out, row.name, seed)
    # Without the name of its data, a run of an earlier version is for this folder alone.
    if found.data and not (path.exists() and path.stat().st_mtime >= since):
      row_files.write(path, found)
    return found

  def _about(self, row: experiments.Row, seed: int) -> dict[str, Any]:
    """What a row's file says to people."""
    flags = {"paper": self.table.paper, **self.scale.flags, "rows": row.name, "seeds": seed}
    flags |= {"split": self.split, "metrics": ",".join(self.metrics)}
    words = [f"--{name}={value}" for name, value in flags.items()]
    prepare, typed = map(results.without_paths, self._commands())
    own = " ".join(["python -m trainers.reproduce", *words, "--data=DATA --out=OUT"])
    return {
      "paper": self.table.paper,
      "row": row.name,
      "seed": seed,
      "data_in_words": describe_data(self.data),
      "commands": [prepare, typed if self.table.best else own],  # A search needs --search.
    }

  def _commands(self) -> list[str]:
    return [
      f"{self.data.info['command']} --out={self.data.folder}",
      " ".join(["python -m trainers.reproduce", *sys.argv[1:]]),
    ]


def setting(data: prepared_data.PreparedData, split: str) -> settings.Setting:
  """What the paper's figures must be printed for."""
  made_by = data.info.get("detector") or {}
  return settings.setting_of(
    data.name, split, len(data.split(split)), _regions(data), made_by.get("detector", "")
  )


def describe_data(data: prepared_data.PreparedData) -> str:
  """The data in a few words: its name, its regions, its training pictures."""
  regions = contents.describe_regions(data)
  pictures = data.info["splits"]["train"]["pictures"]
  return f"{data.name}, {regions}, {pictures:,} training pictures"


def _regions(data: prepared_data.PreparedData) -> str:
  return (data.info.get("detector") or {}).get("name", "given")
