"""One program at a time writes a folder.

`hold(folder)` locks the hidden file `.NAME.lock` next to the folder with flock(2). The kernel
releases the lock when its process ends, however it ends, so a killed program locks nothing.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import socket
import sys
from collections.abc import Iterator

from gcap_tf import errors, files

_held: set[int] = set()


def path_of(folder: files.PathLike) -> pathlib.Path:
  """The lock file of a folder: next to it, or inside it if nothing can be written next to it."""
  folder = pathlib.Path(os.path.abspath(folder))
  if folder.is_dir() and not os.access(folder.parent, os.W_OK):
    return folder / ".lock"
  return folder.with_name(f".{folder.name}.lock")


@contextlib.contextmanager
def hold(folder: files.PathLike) -> Iterator[None]:
  """Holds the lock of a folder; a `UserError` names the program that holds it already.

  Folders that were made for the lock and are empty in the end are removed again.
  """
  path = path_of(folder)
  made = _make_folders(path.parent)
  try:
    descriptor = _acquire(path, folder)
    try:
      yield
    finally:
      # Removed while it is locked: a program that has opened it sees then that it is gone.
      path.unlink(missing_ok=True)
      _held.discard(descriptor)
      os.close(descriptor)
  finally:
    for empty in made:
      with contextlib.suppress(OSError):
        empty.rmdir()


def _make_folders(folder: pathlib.Path) -> list[pathlib.Path]:
  """Makes a folder and its parents; returns those that were missing, the innermost first."""
  missing = [each for each in (folder, *folder.parents) if not each.exists()]
  folder.mkdir(parents=True, exist_ok=True)
  return missing


def _acquire(path: pathlib.Path, folder: files.PathLike) -> int:
  while True:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
      fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
      owner = _owner(descriptor)
      os.close(descriptor)
      raise errors.UserError(
        f"{folder} is being written by another program{owner}; wait until it ends, or choose "
        "another folder"
      ) from None
    except BaseException:
      os.close(descriptor)
      raise
    if _is_file(descriptor, path):
      break
    os.close(descriptor)  # Its owner removed it in the meantime.
  note = {"process": os.getpid(), "host": socket.gethostname(), "program": sys.argv[0]}
  os.ftruncate(descriptor, 0)
  os.write(descriptor, json.dumps(note).encode())
  _held.add(descriptor)
  return descriptor


def _is_file(descriptor: int, path: pathlib.Path) -> bool:
  try:
    found = os.stat(path)
  except FileNotFoundError:
    return False
  return os.path.samestat(os.fstat(descriptor), found)


def _owner(descriptor: int) -> str:
  """ " (process 7 on HOST)" of a lock file, "" if it cannot be read."""
  try:
    note = json.loads(os.pread(descriptor, 4096, 0))
    return f" (process {int(note['process'])} on {note['host']})"
  except (ValueError, KeyError, TypeError):
    return ""


def _close_in_child() -> None:
  """A forked child holds no lock: it may live longer than the program that forked it."""
  for descriptor in _held:
    os.close(descriptor)
  _held.clear()


os.register_at_fork(after_in_child=_close_in_child)
