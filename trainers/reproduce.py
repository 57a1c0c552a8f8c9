"""Trains what a paper's table compares, and writes our figures and the paper's.

    python -m trainers.reproduce --paper=cyclical --data=data/f30k --out=results/cyclical
    python -m trainers.reproduce --paper=cyclical --list     the rows, the cost, the scores
    python -m trainers.reproduce --paper=ccr_ccs --search=scan_both --split=val --data=data/f30k \\
      --out=results/search     every combination of constraint weights and margins
    python -m trainers.reproduce --paper=all --scale=photographs --data=data/photographs \\
      --hours=8 --out=results/photographs     every claim of five papers, the cheapest first

Every row is trained with every seed of the scale into OUT/ROW/seed_N, a run folder like any
other. The same command continues after a stop. OUT/table.json and OUT/table.md are written
after every row: means and deviations over seeds, every departure from the published settings,
and for each claim of the paper a 95 % paired bootstrap over pictures and seeds with a verdict
(holds, does not hold, cannot be told). The paper's figures are shown if --data, its regions and
its split are what they are printed for.

--paper=all trains the rows of all papers' claims (--rows=all: every row), each run in a process of
its own. Stop it at any time; the same command goes on. OUT/state.json says what is done, what is
left and what failed, OUT/log.txt has what the runs print, OUT/PAPER/ has each paper's table.

OUT/rows/PAPER/ROW.SEED.json.gz is a small file of each finished run: its settings, its data, its
figures, and what each picture adds to them. --rows_from=OUT/rows on another machine takes these
runs as finished if settings and data are the same, and trains the others:

    python -m trainers.reproduce --paper=all --scale=photographs --data=data/photographs \\
      --rows_from=docs/results/rows/photographs --hours=8 --out=results/photographs
"""

import pathlib
import sys

from absl import flags

from gcap_tf import commands, errors

PAPERS = ("pos_scan", "distributed", "cyclical", "ccr_ccs", "contrastive")
EVERY = "all"

_PAPER = flags.DEFINE_enum("paper", None, [*PAPERS, EVERY], "Whose table.", required=True)
_DATA = flags.DEFINE_string("data", None, "Prepared folder.")
_OUT = flags.DEFINE_string("out", None, "Folder for runs and tables.")
_SCALE = flags.DEFINE_enum(
  "scale", "small", ["full", "perfect", "photographs", "small", "smoke", "videos"], "How big."
)
_LONGER = flags.DEFINE_float(
  "longer", 1.0, "Times the steps of the scale: does a claim hold after more of them?", 0.01
)
_SEEDS = flags.DEFINE_list("seeds", [], "Seeds instead of the scale's.")
_ROWS = flags.DEFINE_list(
  "rows", [], "Only these rows, and those they need; claims: every row that a claim is about."
)
_SPLIT = flags.DEFINE_string("split", "", "Split to report; default: the paper's, or val.")
_METRICS = flags.DEFINE_list(
  "metrics", ["bleu", "meteor", "rouge_l", "cider", "spice"], "Caption metrics."
)
_SEARCH = flags.DEFINE_string(
  "search", "", "Row of --paper=ccr_ccs whose constraint weights and margins are searched."
)
_LIST = flags.DEFINE_bool(
  "list", False, "Lists the rows, with --paper=all what is left of the runs, and ends."
)
_HOURS = flags.DEFINE_float(
  "hours", 0.0, "With --paper=all: starts no run that is expected to end later; 0: no limit.", 0.0
)
_ROWS_FROM = flags.DEFINE_list(
  "rows_from", [], "Folders of files of finished runs (OUT/rows): these runs are not trained again."
)
_TABLE = flags.DEFINE_bool("table", True, "Writes the tables; without, trains alone.")


def main(argv: list[str]) -> int | None:
  del argv
  from gcap_tf.recipes import scales

  scale = scales.SCALES.get(_SCALE.value).longer(_LONGER.value)
  if _PAPER.value == EVERY:
    return reproduce_every_paper(scale)
  table = chosen_table(scale)
  if _LIST.value:
    print(describe_table(table))
    return
  errors.require(_DATA, _OUT)
  reproduce(table, scale)


def chosen_table(scale):
  """The table of --paper, or the search of --search, at a scale."""
  from gcap_tf.recipes import catalog, constraint_search, scales

  if not _SEARCH.value:
    return catalog.table(_PAPER.value, scale, _of_videos())
  if _PAPER.value != "ccr_ccs":
    raise errors.UserError(f"--search is for --paper=ccr_ccs, not for {_PAPER.value}")
  return scales.scaled(constraint_search.table(_SEARCH.value), scale)


def _of_videos() -> bool:
  from gcap_tf.data.prepared import prepared_data

  return bool(_DATA.value) and prepared_data.PreparedData(_DATA.value).frames > 1


def chosen_rows(table) -> list:
  """The rows of --rows and those they need, in the order in which they are trained."""
  from gcap_tf.recipes import experiments

  names = list(_ROWS.value)
  if names == ["claims"]:
    about = {name for claim in table.claims for name in (claim.better, claim.worse)}
    names = [row.name for row in table.rows if row.name in about]
  return experiments.in_order(table, names or None)


def reproduce(table, scale) -> None:
  """Trains the rows of --rows with every seed; writes the table after every run."""
  reproduction = opened(table, scale, _OUT.value)
  seeds, rows = errors.whole_numbers(_SEEDS) or scale.seeds, chosen_rows(table)
  for seed in seeds:
    wanted = {row.name for row in reproduction.to_train([row.name for row in rows], seed)}
    for row in rows:
      elsewhere = row.name not in wanted and reproduction.trained(row, seed) is None
      print(f"== {row.label}, seed {seed}{': finished elsewhere' if elsewhere else ''}", flush=True)
      if not elsewhere:
        reproduction.train(row, seed)
      if _TABLE.value:
        reproduction.write(rows, seeds)
  if _TABLE.value:
    print((reproduction.out / "table.md").read_text())


def opened(table, scale, out: str):
  """The table on --data, with runs in `out`; the files of its runs are in OUT/rows."""
  from gcap_tf.data.prepared import prepared_data
  from trainers import reproductions

  data = prepared_data.PreparedData(_DATA.value)
  split = _SPLIT.value or (table.split if table.split in data.splits else "val")
  for folder in _ROWS_FROM.value:
    if not pathlib.Path(folder).is_dir():
      raise errors.UserError(f"--rows_from={folder} is no folder; name folders of files of rows")
  return reproductions.Reproduction(
    table,
    scale,
    data,
    split,
    pathlib.Path(out),
    tuple(_METRICS.value),
    rows_to=pathlib.Path(_OUT.value) / "rows",
    rows_from=tuple(map(pathlib.Path, _ROWS_FROM.value)),
  )


def reproduce_every_paper(scale) -> int:
  """Works through the runs of --paper=all; returns 1 if one failed."""
  from gcap_tf.recipes import plan
  from trainers import reproduce_all

  if _SEARCH.value or _ROWS.value not in ([], ["claims"], ["all"]):
    raise errors.UserError("--paper=all takes --rows=claims or --rows=all, and no --search")
  tables = reproduce_all.tables(scale, _of_videos())
  seeds = tuple(errors.whole_numbers(_SEEDS) or scale.seeds)
  every_row = _ROWS.value == ["all"]
  if _LIST.value and not (_DATA.value and _OUT.value):
    steps = plan.order(tables, seeds, every_row)
    print(reproduce_all.listing([(step, "left") for step in steps]))
    return 0
  errors.require(_DATA, _OUT)
  folders = {paper: str(pathlib.Path(_OUT.value) / paper) for paper in tables}
  papers = {paper: opened(table, scale, folders[paper]) for paper, table in tables.items()}

  def to_train(paper: str, names, seed: int):
    return papers[paper].to_train(names, seed)

  steps = plan.order(tables, seeds, every_row, to_train)
  work = reproduce_all.Work(pathlib.Path(_OUT.value), papers, steps, seeds)
  if _LIST.value:
    print(reproduce_all.listing(work.states()))
    return 0
  given = {"data": _DATA.value, **scale.flags, "metrics": ",".join(_METRICS.value)}

  def command(step: plan.Step) -> list[str]:
    flags_of_step = reproduce_all.arguments(step, folders[step.paper], given, papers)
    return [sys.executable, "-m", "trainers.reproduce", *flags_of_step]

  return work.go(command, _HOURS.value)


def describe_table(table) -> str:
  """One line a row with the paper's figures, then command, cost and scores of our table."""
  lines = []
  for row in table.rows:
    printed = "; ".join(
      f"{known}: " + ", ".join(f"{key} {value:g}" for key, value in figures.items())
      for known, figures in row.printed.items()
    )
    lines.append(f"{row.name:28} {row.label:52} {printed}".rstrip())
  if table.elsewhere:
    lines += ["", *table.elsewhere]
  if table.command:
    lines += ["", f"On drawn scenes, {table.cost}:", f"  {commands.localise(table.command)}"]
  for name, scores in table.expected.items():
    lines.append(f"  {name}: " + ", ".join(f"{key} {value:g}" for key, value in scores.items()))
  return "\n".join(lines)


if __name__ == "__main__":
  errors.run(main)
