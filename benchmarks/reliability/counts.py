"""Counts that add up over resumed runs, and over machines: one JSON object in a file.

    {
      "first": "2026-11-18",
      "last": "2026-11-19",
      "cases": {"shards": {"refused": 4011, "unchanged": 102, "silent": 0}}
    }

A long count is a series of short runs with the same `--counts=FILE`. A case that is numbered
from `total` never repeats what an earlier run tried. `docs/reliability` keeps a file for each
command, from which `benchmarks.reliability.table` makes the table of docs/reliability.md.
"""

import contextlib
import datetime
import pathlib
from collections.abc import Iterator, Mapping

from gcap_tf import errors, files, locks


class Counts:
  """Numbers by case and name; kept in memory only if `path` is empty.

  Attributes:
    first, last: days of the first and the last number, or empty.
  """

  def __init__(self, path: files.PathLike = ""):
    self._path = pathlib.Path(path) if path else None
    self._cases: dict[str, dict[str, int]] = {}
    self.first = self.last = ""
    if self._path and self._path.exists():
      self._read(files.read_json(self._path, "counts"))

  def _read(self, found: object) -> None:
    cases = found.get("cases") if isinstance(found, dict) else None
    if not isinstance(cases, dict) or not all(map(_is_case, cases.values())):
      raise errors.UserError(f"counts {self._path}: expected numbers by case and name")
    self._cases = cases
    self.first, self.last = str(found.get("first", "")), str(found.get("last", ""))

  def add(self, case: str, **numbers: int) -> None:
    """Adds to a case; the file is written whole."""
    kept = self._cases.setdefault(case, {})
    for name, number in numbers.items():
      kept[name] = kept.get(name, 0) + number
    self.last = datetime.date.today().isoformat()
    self.first = self.first or self.last
    if self._path:
      files.write_json(self._path, {"first": self.first, "last": self.last, "cases": self._cases})

  def of(self, case: str) -> dict[str, int]:
    return dict(self._cases.get(case, {}))

  def total(self, case: str) -> int:
    return sum(self.of(case).values())

  def sum(self, name: str) -> int:
    """A number over all cases."""
    return sum(numbers.get(name, 0) for numbers in self._cases.values())

  def all(self) -> dict[str, dict[str, int]]:
    return {case: self.of(case) for case in self._cases}


@contextlib.contextmanager
def opened(path: files.PathLike) -> Iterator[Counts]:
  """The counts of a file, which no other program may write in the meantime."""
  with locks.hold(path) if path else contextlib.nullcontext():
    yield Counts(path)


def _is_case(value: object) -> bool:
  return isinstance(value, Mapping) and all(type(number) is int for number in value.values())
