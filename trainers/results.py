"""Makes one page of reproductions: our figures beside the papers', what holds and what not.

    python -m trainers.results --tables=docs/results --out=docs/results.md

`--tables` is a folder of files that `trainers.reproduce` wrote as table.json, each under a
name of its own; the page shows them in the order of their names.
"""

import pathlib

from absl import flags

from gcap_tf import errors, files
from gcap_tf.recipes import results

TITLE = "Results: the five papers, reproduced"

_TABLES = flags.DEFINE_string("tables", "docs/results", "Folder of tables, NAME.json each.")
_OUT = flags.DEFINE_string("out", "docs/results.md", "Where the page goes.")


def main(argv: list[str]) -> None:
  del argv
  files.write_text(_OUT.value, page(pathlib.Path(_TABLES.value)))
  print(f"written to {_OUT.value}")


def page(folder: pathlib.Path) -> str:
  """The page of a folder of tables."""
  paths = sorted(folder.glob("*.json"))
  if not paths:
    raise errors.UserError(f"{folder} has no tables: copy table.json of trainers.reproduce there")
  return results.page(TITLE, [files.read_json(path, "table") for path in paths])


if __name__ == "__main__":
  errors.run(main)
