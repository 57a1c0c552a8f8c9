"""Files of datasets on disk: archives or folders, lists of ids, lines of text."""

import os
import pathlib
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from gcap_tf import errors, files


class Tree:
  """Files by name, in a zip archive or in the folders that it unpacks to.

  Objects can be pickled; each process opens the archive at its first read, since
  processes must not share one file position.
  """

  def __init__(self, source: files.PathLike, archive: str, folders: Sequence[str]):
    """Finds the files.

    Args:
      source: a folder that holds the archive or the folders, or the archive itself.
      archive: name of the archive in the folder.
      folders: names of the folders which the archive holds; they win over it.
    """
    source = pathlib.Path(source)
    self.folder = source.parent if source.is_file() else source
    unpacked = all((self.folder / name).is_dir() for name in folders)
    self.archive = source if source.is_file() else None if unpacked else self.folder / archive
    if self.archive is not None and not self.archive.is_file():
      raise errors.UserError(
        f"{source}: neither {archive} nor the folders {' and '.join(folders)} are there; "
        "give the folder that holds them"
      )
    self._process, self._opened = 0, None

  def __getstate__(self) -> dict[str, Any]:
    return {**self.__dict__, "_process": 0, "_opened": None}

  def where(self, name: str) -> str:
    """The name of the file in errors."""
    return f"{self.folder / name}" if self.archive is None else f"{self.archive}: {name}"

  def read(self, name: str) -> bytes:
    """The bytes of a file; one that is missing or damaged is a `UserError`."""
    try:
      if self.archive is None:
        return (self.folder / name).read_bytes()
      return self._zip().read(name)
    except (KeyError, FileNotFoundError):
      raise errors.UserError(
        f"{self.where(name)} is missing; fetch it, or take it out of the split list"
      ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
      raise errors.UserError(
        f"{self.where(name)} is damaged ({error}); fetch the archive again"
      ) from None

  def _zip(self) -> zipfile.ZipFile:
    if self._process != os.getpid():
      try:
        self._opened = zipfile.ZipFile(self.archive)
      except zipfile.BadZipFile as error:
        raise errors.UserError(
          f"{self.archive} is not a whole zip archive ({error}); fetch it again"
        ) from None
      self._process = os.getpid()
    return self._opened


def decode(data: bytes, where: str) -> str:
  try:
    return data.decode("utf-8")
  except UnicodeDecodeError as error:
    raise errors.UserError(f"{where} is not UTF-8 text ({error}); convert it") from None


def read_lines(path: files.PathLike, what: str) -> list[str]:
  """Lines of a text file without their ends; the last may lack one."""
  path = pathlib.Path(path)
  try:
    text = decode(path.read_bytes(), str(path))
  except (FileNotFoundError, IsADirectoryError):
    raise errors.UserError(f"{what} {path} does not exist") from None
  # Not splitlines(): captions may hold U+2028 and other marks that it would cut at.
  lines = text.replace("\r\n", "\n").split("\n")
  return lines[:-1] if lines[-1] == "" else lines


def read_ids(path: files.PathLike) -> list[str]:
  """Ids, one per line; blank lines are skipped, an empty list is a `UserError`."""
  ids = [line.strip() for line in read_lines(path, "split list") if line.strip()]
  if not ids:
    raise errors.UserError(f"split list {path} is empty; expected one picture id per line")
  return ids


_MOST = 1 << 62  # NumPy has no larger whole numbers.


def require(entry: Any, keys: Mapping[str, type | tuple[type, ...]], where: str) -> None:
  """Raises a `UserError` if a JSON object lacks a key or has a value of another type."""
  for key, kind in keys.items():
    value = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(value, kind) or (isinstance(value, int) and abs(value) > _MOST):
      found = repr(entry.get(key)) if isinstance(entry, dict) and key in entry else "missing"
      raise errors.UserError(f'{where}: "{key}" is {found[:60]}; correct or fetch the file again')


def one_file(source: files.PathLike, pattern: str, what: str) -> pathlib.Path:
  """`source` itself if it is a file, else the one file in it that fits the pattern."""
  source = pathlib.Path(source)
  if source.is_file():
    return source
  found = sorted(source.glob(pattern)) if source.is_dir() else []
  if len(found) != 1:
    count = f"{len(found)} files" if found else "no file"
    raise errors.UserError(f"{source}: {count} {pattern} there; give the path of the {what}")
  return found[0]


def picture_size(path: pathlib.Path) -> tuple[int, int]:
  """Width and height from the header of a picture file."""
  try:
    with Image.open(path) as picture:
      return picture.size
  except (OSError, Image.DecompressionBombError) as error:
    raise errors.UserError(f"{path} is not a picture ({error}); fetch it again") from None
