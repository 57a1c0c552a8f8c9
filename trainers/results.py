"""Writes one page of reproductions: our figures and the papers', and which claims hold.

    python -m trainers.results --tables=docs/results --out=docs/results.md
    python -m trainers.results --check      exits with 1 if the page is out of date

`--tables` is a folder of files that `reproduce` wrote as table.json, each with a name of its
own; the page shows them in the order of their names.
"""

import pathlib

from absl import flags

from gcap_tf import commands, errors, files
from gcap_tf.recipes import results

TITLE = "Results: the five papers, reproduced"
HEAD = """\
`python -m trainers.results` writes this page from the tables in `docs/results`. Each table names
the commands that make it.

## All five papers in a night

    python -m trainers.prepare_data --dataset=flickr30k_entities --source=FLICKR \\
      --regions=pictures --pictures=PICTURES --object_classes=CLASSES --out=data/photographs
    python -m trainers.reproduce --paper=all --scale=photographs --data=data/photographs \\
      --split=val --metrics=bleu,cider --hours=8 --out=results/photographs

The second command trains what the papers' claims compare, three seeds a row, the cheapest claim
first. With `--hours`, it starts no run that is expected to end later. Stop it at any time (Ctrl-C
or SIGTERM): it ends the run, writes the tables and prints how many runs are left. The same command
goes on. A run that fails is named; others go on. `--list` with the same flags prints what is done,
what is left, and the expected minutes. In `results/photographs` are

- `state.json`: every run, its minutes, and whether it is done, running, left, failed or waiting
  for one that failed;
- `log.txt`: what the runs print;
- `PAPER/table.md`, `PAPER/table.json`: figures with mean and deviation over seeds; for every claim
  the difference with its 95 % interval (paired bootstrap over pictures and seeds) and a verdict:
  holds, does not hold, cannot be told; a claim is about the seeds that both rows have, and with
  one seed of several it cannot be told;
- `rows/PAPER/ROW.SEED.json.gz`: each finished run in less than 20 KB: its settings, its data, its
  figures, what each picture adds to them, the commands (`zcat` shows them);
- `PAPER/ROW/seed_N`: the runs.

To show a table here, copy `PAPER/table.json` to `docs/results` under a name of its own and run
`python -m trainers.results`. `prepare_data --detector=tflite:FILE` prepares regions of another
detector for a second night.

## Go on with a table on another machine

The files in `rows` are all that a table needs of a finished run. Keep them, for example in
`docs/results/rows/photographs`. Prepare the data on the other machine with the same command, and
add the folder of these files:

    python -m trainers.reproduce --paper=all --scale=photographs --data=data/photographs \\
      --split=val --metrics=bleu,cider --rows_from=docs/results/rows/photographs --hours=8 \\
      --out=results/photographs

It trains what has no file, and writes the tables of all; copy its `rows` to the others afterwards.
`--rows_from` takes several folders; a run in `--out` counts before a file. A run that an unfinished
row needs (a teacher, a first stage, a start) is trained again, because its file has no weights. A
file is not taken if its settings or its data differ; a line names the first difference:

- settings: the configuration of the run and of the runs that it needs, the split, and for
  captioners the metrics; an option that is newer than the file had its default;
- data: dataset, splits, pictures, captions, object words and boxes, how the regions were made, and
  the weights of the detector. With `--folds` the weights do not count, but the name of the detector
  and the number of folds. Folders and the numbers in features do not count, so that rounding on
  another machine makes no difference.
"""

_TABLES = flags.DEFINE_string("tables", "docs/results", "Folder of tables, NAME.json each.")
_OUT = flags.DEFINE_string("out", "docs/results.md", "Page to write.")
_CHECK = flags.DEFINE_bool("check", False, "Writes nothing; an outdated page is an error.")


def main(argv: list[str]) -> None:
  del argv
  update(pathlib.Path(_TABLES.value), pathlib.Path(_OUT.value), _CHECK.value)


def update(folder: pathlib.Path, out: pathlib.Path, check: bool = False) -> None:
  """Writes the page of a folder of tables; with `check`, a `UserError` if it is out of date."""
  text = page(folder)
  if not check:
    files.write_text(out, text)
    print(f"written to {out}")
  elif not out.exists() or out.read_text(encoding="utf-8") != text:
    raise errors.UserError(f"{out} is not the page of {folder}: run {commands.command('results')}")


def page(folder: pathlib.Path) -> str:
  """The page of a folder of tables."""
  paths = sorted(folder.glob("*.json"))
  if not paths:
    raise errors.UserError(
      f"{folder} has no tables: copy table.json of {commands.command('reproduce')} there"
    )
  return results.page(TITLE, [files.read_json(path, "table") for path in paths], HEAD)


if __name__ == "__main__":
  errors.run(main)
