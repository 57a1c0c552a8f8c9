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
  return results.page(TITLE, [files.read_json(path, "table") for path in paths])


if __name__ == "__main__":
  errors.run(main)
