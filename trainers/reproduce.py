"""Trains what a paper's table compares, and writes our figures and the paper's.

    python -m trainers.reproduce --paper=cyclical --data=data/f30k --out=results/cyclical
    python -m trainers.reproduce --paper=cyclical --list     the rows, the cost, the scores
    python -m trainers.reproduce --paper=ccr_ccs --search=scan_both --split=val --data=data/f30k \\
      --out=results/search     every combination of constraint weights and margins

Every row is trained with every seed of the scale into OUT/ROW/seed_N, a run folder like any
other. The same command continues after a stop. OUT/table.json and OUT/table.md are written
after every row: means and deviations over seeds, every departure from the published settings,
and for each claim of the paper a 95 % paired bootstrap over pictures and seeds with a verdict
(holds, does not hold, cannot be told). The paper's figures are shown if --data, its regions and
its split are what they are printed for.
"""

import pathlib
import sys

from absl import flags

from gcap_tf import commands, errors, files

PAPERS = ("pos_scan", "distributed", "cyclical", "ccr_ccs", "contrastive")

_PAPER = flags.DEFINE_enum("paper", None, PAPERS, "Whose table.", required=True)
_DATA = flags.DEFINE_string("data", None, "Prepared folder.")
_OUT = flags.DEFINE_string("out", None, "Folder for runs and tables.")
_SCALE = flags.DEFINE_enum(
  "scale", "small", ["full", "photographs", "small", "smoke", "videos"], "How big."
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
_LIST = flags.DEFINE_bool("list", False, "Lists the rows and ends.")


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.recipes import scales

  scale = scales.SCALES.get(_SCALE.value)
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
  from gcap_tf.data.prepared import prepared_data
  from gcap_tf.recipes import results
  from trainers import reproduce_rows

  data = prepared_data.PreparedData(_DATA.value)
  split = _SPLIT.value or (table.split if table.split in data.splits else "val")
  out = pathlib.Path(_OUT.value)
  asks = any(column.key.startswith("self_retrieval") for column in table.columns)
  made_by = [
    f"{data.info['command']} --out={_DATA.value}",
    " ".join(["python -m trainers.reproduce", *sys.argv[1:]]),
  ]
  done: dict[str, results.Runs] = {}
  statistics: dict[str, dict] = {}
  for seed in errors.whole_numbers(_SEEDS) or scale.seeds:
    for row in chosen_rows(table):
      print(f"== {row.label}, seed {seed}", flush=True)
      done.setdefault(row.name, {})[seed] = reproduce_rows.run(
        row, seed, data, split, out, tuple(_METRICS.value), scale.retrieved if asks else 0
      )
      statistics.setdefault(row.name, {})[seed] = reproduce_rows.statistics(out, row.name, seed)
      summary = results.summarise(
        table, scale.name, setting(data, split), describe_data(data), done, made_by, statistics
      )
      write(out, table, summary, done)
  print((out / "table.md").read_text())


def write(out: pathlib.Path, table, summary, runs) -> None:
  """table.json, table.md, and a picture for each curve that has two points or more."""
  from gcap_tf.recipes import curves, results

  files.write_json(out / "table.json", summary)
  files.write_text(out / "table.md", results.markdown(summary))
  curves.draw_all(out, table, runs)


def setting(data, split: str):
  """What the paper's figures must be printed for."""
  from gcap_tf.recipes import settings

  made_by = data.info.get("detector") or {}
  return settings.setting_of(
    data.name, split, len(data.split(split)), _regions(data), made_by.get("detector", "")
  )


def describe_table(table) -> str:
  """One line a row with the paper's figures, then command, cost and scores of our table."""
  lines = []
  for row in table.rows:
    printed = "; ".join(
      f"{known}: " + ", ".join(f"{key} {value:g}" for key, value in figures.items())
      for known, figures in row.printed.items()
    )
    lines.append(f"{row.name:28} {row.label:52} {printed}".rstrip())
  if table.command:
    lines += ["", f"On drawn scenes, {table.cost}:", f"  {commands.localise(table.command)}"]
  for name, scores in table.expected.items():
    lines.append(f"  {name}: " + ", ".join(f"{key} {value:g}" for key, value in scores.items()))
  return "\n".join(lines)


def describe_data(data) -> str:
  """The data in a few words: its name, its regions, its training pictures."""
  made_by = (data.info.get("detector") or {}).get("detector")
  regions = f"{_regions(data)} regions" + (f" of {pathlib.Path(made_by).name}" if made_by else "")
  return f"{data.name}, {regions}, {len(data.split('train')):,} training pictures"


def _regions(data) -> str:
  return (data.info.get("detector") or {}).get("name", "given")


if __name__ == "__main__":
  errors.run(main)
