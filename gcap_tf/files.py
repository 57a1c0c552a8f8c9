"""Files written whole or not at all, and read with errors that name them."""

import contextlib
import ctypes
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
from collections.abc import Iterator
from typing import Any

from gcap_tf import errors

PathLike = str | os.PathLike[str]

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of renameat2(2).
_SEAL = "checksum"
_NUMBERS_BY_LINE = re.compile(r"\[\n\s*([-+\d.eE]+(?:,\n\s*[-+\d.eE]+)*)\n\s*\]")


def cache_folder() -> pathlib.Path:
  """Folder for what can be made or fetched again: `gcap_tf` in the user's cache."""
  cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
  return pathlib.Path(cache) / "gcap_tf"


@contextlib.contextmanager
def atomic_path(path: PathLike) -> Iterator[pathlib.Path]:
  """Yields a temporary sibling of `path`; renames it to `path` when the block succeeds.

  The sibling may be written as a file or made as a folder. On an exception it is
  removed and `path` is left as it was, so nothing half-written looks whole. A program that
  is killed at any moment leaves the old content or the new one.
  """
  path = pathlib.Path(path)
  path.parent.mkdir(parents=True, exist_ok=True)
  partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
  remove(partial)
  try:
    yield partial
    if path.is_dir():
      exchange(partial, path)
    else:
      os.replace(partial, path)
  finally:
    remove(partial)


def exchange(first: pathlib.Path, second: pathlib.Path) -> None:
  """Swaps two names of one folder in one step.

  Where the file system cannot, `second` is absent for the moment between two renames.
  """
  renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
  if renameat2 is not None:
    names = os.fsencode(first), os.fsencode(second)
    if renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0:
      return
  aside = second.with_name(f".{second.name}.old-{os.getpid()}")
  os.rename(second, aside)
  os.rename(first, second)
  os.rename(aside, first)


def remove(path: PathLike) -> None:
  """Removes a file or a folder, if it is there."""
  path = pathlib.Path(path)
  if path.is_dir() and not path.is_symlink():
    shutil.rmtree(path)
  else:
    path.unlink(missing_ok=True)


def remove_leftovers(folder: PathLike, name: str = "") -> None:
  """Removes what `atomic_path` left in a folder when its program was killed.

  Call it while no other program writes there: after `locks.hold`.

  Args:
    folder: that holds the paths that were written.
    name: of the path; "" for any.
  """
  for partial in pathlib.Path(folder).glob(f".{glob.escape(name) or '*'}.partial-*"):
    remove(partial)


def write_text(path: PathLike, text: str) -> None:
  with atomic_path(path) as partial:
    partial.write_text(text, encoding="utf-8")


def write_json(path: PathLike, value: Any, indent: int | None = 2) -> None:
  """Writes JSON to be read by people too: a list of numbers takes one line."""
  text = json.dumps(value, indent=indent, ensure_ascii=False, sort_keys=False)
  if indent:
    text = _NUMBERS_BY_LINE.sub(lambda found: "[" + " ".join(found[1].split()) + "]", text)
  write_text(path, text + "\n")


def read_json(path: PathLike, what: str = "file") -> Any:
  """Reads JSON; a missing or broken file is a `UserError` naming `what` and the path."""
  path = pathlib.Path(path)
  try:
    return json.loads(path.read_text(encoding="utf-8"))
  except FileNotFoundError:
    raise errors.UserError(f"{what} {path} does not exist") from None
  except RecursionError:
    raise errors.UserError(f"{what} {path} is not valid JSON (it nests too deep)") from None
  except ValueError as error:  # JSON or UTF-8 that is none, or a number of thousands of digits.
    raise errors.UserError(f"{what} {path} is not valid JSON ({error})") from None


def seal(values: dict[str, Any]) -> dict[str, Any]:
  """`values` with a checksum of themselves, for a JSON file whose damage must not pass unseen."""
  return {**values, _SEAL: _checksum(values)}


def unseal(values: dict[str, Any], path: PathLike, what: str) -> dict[str, Any]:
  """The values that were sealed; a `UserError` if they have changed. Unsealed ones pass."""
  if _SEAL not in values:
    return values
  kept = {key: value for key, value in values.items() if key != _SEAL}
  if values[_SEAL] != _checksum(kept):
    raise errors.UserError(
      f'{what} {path} is damaged: it does not match its "{_SEAL}"; if it was changed on purpose, '
      f'remove "{_SEAL}" from it'
    )
  return kept


def write_sealed_json(path: PathLike, values: dict[str, Any], indent: int | None = 2) -> None:
  """Writes a JSON object with its own checksum."""
  write_json(path, seal(values), indent)


def read_sealed_json(path: PathLike, what: str) -> Any:
  """Reads what `write_sealed_json` wrote, without the checksum; a damaged file is a `UserError`."""
  values = read_json(path, what)
  return unseal(values, path, what) if isinstance(values, dict) else values


def _checksum(values: dict[str, Any]) -> str:
  text = json.dumps(values, sort_keys=True, ensure_ascii=True)
  return hashlib.sha256(text.encode()).hexdigest()[:16]


def sha256(path: PathLike) -> str:
  with open(path, "rb") as file:
    return hashlib.file_digest(file, "sha256").hexdigest()
