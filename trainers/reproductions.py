"""The runs and the tables of one paper on one prepared folder."""

import dataclasses
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from gcap_tf import files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.recipes import curves, experiments, results, scales, settings
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
  """

  table: experiments.Table
  scale: scales.Scale
  data: prepared_data.PreparedData
  split: str
  out: pathlib.Path
  metrics: tuple[str, ...]

  @property
  def _retrieved(self) -> int:
    asks = any(column.key.startswith("self_retrieval") for column in self.table.columns)
    return self.scale.retrieved if asks else 0

  def train(self, row: experiments.Row, seed: int) -> dict[str, Any]:
    """The result of a run; trained and evaluated unless that is done."""
    return reproduce_rows.run(
      row, seed, self.data, self.split, self.out, self.metrics, self._retrieved
    )

  def kept(self, row: experiments.Row, seed: int) -> dict[str, Any] | None:
    """The result of a run that is done; None if it is not."""
    return reproduce_rows.kept(
      row, seed, self.data, self.split, self.out, self.metrics, self._retrieved
    )

  def write(self, rows: Sequence[experiments.Row], seeds: Sequence[int]) -> bool:
    """table.json, table.md and pictures of the runs that are done; False if none is."""
    done: dict[str, results.Runs] = {}
    statistics: dict[str, dict] = {}
    for row in rows:
      found = {seed: kept for seed in seeds if (kept := self.kept(row, seed)) is not None}
      if found:
        done[row.name] = found
        statistics[row.name] = {
          seed: reproduce_rows.statistics(self.out, row.name, seed) for seed in found
        }
    if not done:
      return False
    summary = results.summarise(
      self.table,
      self.scale.name,
      setting(self.data, self.split),
      describe_data(self.data),
      done,
      [
        f"{self.data.info['command']} --out={self.data.folder}",
        " ".join(["python -m trainers.reproduce", *sys.argv[1:]]),
      ],
      statistics,
    )
    files.write_json(self.out / "table.json", summary)
    files.write_text(self.out / "table.md", results.markdown(summary))
    curves.draw_all(self.out, self.table, done)
    return True


def setting(data: prepared_data.PreparedData, split: str) -> settings.Setting:
  """What the paper's figures must be printed for."""
  made_by = data.info.get("detector") or {}
  return settings.setting_of(
    data.name, split, len(data.split(split)), _regions(data), made_by.get("detector", "")
  )


def describe_data(data: prepared_data.PreparedData) -> str:
  """The data in a few words: its name, its regions, its training pictures."""
  made_by = (data.info.get("detector") or {}).get("detector")
  regions = f"{_regions(data)} regions" + (f" of {pathlib.Path(made_by).name}" if made_by else "")
  return f"{data.name}, {regions}, {len(data.split('train')):,} training pictures"


def _regions(data: prepared_data.PreparedData) -> str:
  return (data.info.get("detector") or {}).get("name", "given")
