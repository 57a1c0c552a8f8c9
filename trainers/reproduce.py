"""Trains what a paper's table compares, and writes our figures beside the paper's.

    python -m trainers.reproduce --paper=cyclical --data=data/f30k --out=results/cyclical

Every row is trained with every seed of the scale into OUT/ROW/seed_N, a run folder like any
other; what is done is not done again, so a run that was stopped goes on where it was.
OUT/table.json and OUT/table.md are written after every row.
"""

import pathlib
import sys

from absl import flags

from gcap_tf import errors, files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.metrics import captions as caption_metrics
from gcap_tf.recipes import experiments, results, scales
from gcap_tf.recipes.papers import ccr_ccs, contrastive, cyclical, distributed, pos_scan
from trainers import reproduce_rows

PAPERS = {
  "pos_scan": pos_scan.table,
  "distributed": distributed.table,
  "cyclical": cyclical.table,
  "ccr_ccs": ccr_ccs.table,
  "contrastive": contrastive.table,
}

_PAPER = flags.DEFINE_enum("paper", None, list(PAPERS), "Whose table.", required=True)
_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_OUT = flags.DEFINE_string("out", None, "Folder for runs and tables.", required=True)
_SCALE = flags.DEFINE_enum("scale", "small", scales.SCALES.names(), "How big.")
_SEEDS = flags.DEFINE_list("seeds", [], "Instead of the scale's seeds.")
_ROWS = flags.DEFINE_list("rows", [], "Only these rows, and those they need.")
_SPLIT = flags.DEFINE_string("split", "", "Judged on; default: the paper's, or val.")
_METRICS = flags.DEFINE_list("metrics", list(caption_metrics.METRICS), "Caption metrics.")


def main(argv: list[str]) -> None:
  del argv
  scale = scales.SCALES.get(_SCALE.value)
  table = PAPERS[_PAPER.value](scale)
  data = prepared_data.PreparedData(_DATA.value)
  split = _SPLIT.value or (table.split if table.split in data.splits else "val")
  seeds = reproduce_rows.whole_numbers(_SEEDS.value) or scale.seeds
  out = pathlib.Path(_OUT.value)
  metrics = tuple(_METRICS.value)
  asks = any(column.key.startswith("self_retrieval") for column in table.columns)
  retrieved = scale.retrieved if asks else 0
  rows = experiments.in_order(table, _ROWS.value or None)
  commands = [
    f"{data.info['command']} --out={_DATA.value}",
    " ".join(["python -m trainers.reproduce", *sys.argv[1:]]),
  ]
  done: dict[str, results.Runs] = {}
  for seed in seeds:
    for row in rows:
      print(f"== {row.label}, seed {seed}", flush=True)
      result = reproduce_rows.run(row, seed, data, split, out, metrics, retrieved)
      done.setdefault(row.name, {})[seed] = result
      summary = results.summarise(table, scale.name, split, describe(data), done, commands)
      files.write_json(out / "table.json", summary)
      files.write_text(out / "table.md", results.markdown(summary))
  print((out / "table.md").read_text())


def describe(data: prepared_data.PreparedData) -> str:
  """The data in a few words: which, its regions, how many pictures it teaches with."""
  regions = (data.info.get("detector") or {}).get("name", "given")
  taught = len(data.split("train"))
  return f"{data.name}, {regions} regions, {taught:,} training pictures"


if __name__ == "__main__":
  errors.run(main)
