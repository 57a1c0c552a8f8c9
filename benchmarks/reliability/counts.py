"""Counts that add up over resumed runs: one JSON object in a file.

    {"shards": {"refused": 4011, "unchanged": 102, "silent": 0}}

A long count is a series of short runs with the same `--counts=FILE`. A case that is numbered
from `total` never repeats what an earlier run tried.
"""

import contextlib
import pathlib
from collections.abc import Iterator, Mapping

from gcap_tf import errors, files, locks


class Counts:
  """Numbers by case and name; kept in memory only if `path` is empty."""

  def __init__(self, path: files.PathLike = ""):
    self._path = pathlib.Path(path) if path else None
    self._cases: dict[str, dict[str, int]] = {}
    if self._path and self._path.exists():
      found = files.read_json(self._path, "counts")
      if not isinstance(found, dict) or not all(map(_is_case, found.values())):
        raise errors.UserError(f"counts {self._path}: expected numbers by case and name")
      self._cases = found

  def add(self, case: str, **numbers: int) -> None:
    """Adds to a case; the file is written whole."""
    kept = self._cases.setdefault(case, {})
    for name, number in numbers.items():
      kept[name] = kept.get(name, 0) + number
    if self._path:
      files.write_json(self._path, self._cases)

  def of(self, case: str) -> dict[str, int]:
    return dict(self._cases.get(case, {}))

  def total(self, case: str) -> int:
    return sum(self.of(case).values())

  def all(self) -> dict[str, dict[str, int]]:
    return {case: self.of(case) for case in self._cases}


@contextlib.contextmanager
def opened(path: files.PathLike) -> Iterator[Counts]:
  """The counts of a file, which no other program may write in the meantime."""
  with locks.hold(path) if path else contextlib.nullcontext():
    yield Counts(path)


def _is_case(value: object) -> bool:
  return isinstance(value, Mapping) and all(type(number) is int for number in value.values())
