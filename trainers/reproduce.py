"""Trains what a paper's table compares, and writes our figures and the paper's.

    python -m trainers.reproduce --paper=cyclical --data=data/f30k --out=results/cyclical
    python -m trainers.reproduce --paper=cyclical --list     the rows, the cost, the scores

Every row is trained with every seed of the scale into OUT/ROW/seed_N, a run folder like any
other. The same command continues after a stop. OUT/table.json and OUT/table.md are written
after every row. The paper's figures are shown if --data is what they are printed for.
"""

import pathlib
import sys

from absl import flags

from gcap_tf import commands, errors, files

PAPERS = ("pos_scan", "distributed", "cyclical", "ccr_ccs", "contrastive")

_PAPER = flags.DEFINE_enum("paper", None, PAPERS, "Whose table.", required=True)
_DATA = flags.DEFINE_string("data", None, "Prepared folder.")
_OUT = flags.DEFINE_string("out", None, "Folder for runs and tables.")
_SCALE = flags.DEFINE_enum("scale", "small", ["full", "small", "smoke"], "How big.")
_SEEDS = flags.DEFINE_list("seeds", [], "Seeds instead of the scale's.")
_ROWS = flags.DEFINE_list("rows", [], "Only these rows, and those they need.")
_SPLIT = flags.DEFINE_string("split", "", "Split to report; default: the paper's, or val.")
_METRICS = flags.DEFINE_list(
  "metrics", ["bleu", "meteor", "rouge_l", "cider", "spice"], "Caption metrics."
)
_LIST = flags.DEFINE_bool("list", False, "Lists the rows and ends.")


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.recipes import catalog, scales

  scale = scales.SCALES.get(_SCALE.value)
  table = catalog.TABLES[_PAPER.value](scale)
  if _LIST.value:
    print(describe_table(table))
    return
  errors.require(_DATA, _OUT)
  reproduce(table, scale)


def reproduce(table, scale) -> None:
  """Trains the rows of --rows with every seed; writes the table after every run."""
  from gcap_tf.data.prepared import prepared_data
  from gcap_tf.recipes import experiments, results
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
  for seed in errors.whole_numbers(_SEEDS) or scale.seeds:
    for row in experiments.in_order(table, _ROWS.value or None):
      print(f"== {row.label}, seed {seed}", flush=True)
      done.setdefault(row.name, {})[seed] = reproduce_rows.run(
        row, seed, data, split, out, tuple(_METRICS.value), scale.retrieved if asks else 0
      )
      summary = results.summarise(
        table,
        scale.name,
        split,
        describe_data(data),
        done,
        made_by,
        compare=table.compares_with(data.name, _regions(data)),
      )
      files.write_json(out / "table.json", summary)
      files.write_text(out / "table.md", results.markdown(summary))
  print((out / "table.md").read_text())


def describe_table(table) -> str:
  """One line a row with the paper's figures, then command, cost and scores of our table."""
  lines = []
  for row in table.rows:
    printed = ", ".join(f"{key} {value:g}" for key, value in row.printed.items())
    lines.append(f"{row.name:22} {row.label.strip():44} {printed}".rstrip())
  lines += ["", f"On drawn scenes, {table.cost}:", f"  {commands.localise(table.command)}"]
  for name, scores in table.expected.items():
    lines.append(f"  {name}: " + ", ".join(f"{key} {value:g}" for key, value in scores.items()))
  return "\n".join(lines)


def describe_data(data) -> str:
  """The data in a few words: its name, its regions, its training pictures."""
  return f"{data.name}, {_regions(data)} regions, {len(data.split('train')):,} training pictures"


def _regions(data) -> str:
  return (data.info.get("detector") or {}).get("name", "given")


if __name__ == "__main__":
  errors.run(main)
