"""Names for the things a user can choose: matchers, captioners, readers, recipes."""

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from typing import Generic, TypeVar

from gcap_tf import errors

T = TypeVar("T")


class Registry(Generic[T]):
  """Maps a name to a class or function; a wrong name lists the right ones."""

  def __init__(self, kind: str):
    self.kind = kind
    self._entries: dict[str, T] = {}

  def register(self, name: str) -> Callable[[T], T]:
    def add(entry: T) -> T:
      if name in self._entries:
        raise ValueError(f"{self.kind} {name!r} is registered twice")
      self._entries[name] = entry
      return entry

    return add

  def get(self, name: str) -> T:
    if name in self._entries:
      return self._entries[name]
    near = difflib.get_close_matches(name, self._entries, n=1)
    hint = f' (did you mean "{near[0]}"?)' if near else ""
    raise errors.UserError(f'unknown {self.kind} "{name}"; known: {", ".join(self.names())}{hint}')

  def names(self) -> list[str]:
    return sorted(self._entries)

  def name_of(self, entry: T) -> str:
    return next(name for name, known in self._entries.items() if known is entry)


def import_modules(package: str) -> None:
  """Imports every module of a package, so that each registers what it holds.

  `tools/build_files.py` reads the name, so write it out: `import_modules("gcap_tf.evaluation.x")`.
  """
  for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
    importlib.import_module(f"{package}.{module.name}")
