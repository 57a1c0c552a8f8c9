"""Reads `.npy` files of dictionaries without running code that a pickle may hold.

NumPy's own types are never built from a pickle: their state can claim that bytes are pointers,
which crashes Python or worse. Stand-ins take the state, and arrays are made from what is valid.
"""

import pathlib
import pickle
import re
from typing import Any, BinaryIO

import numpy as np

from gcap_tf import errors

_KIND = re.compile(r"[biufSUO]\d{0,6}")
_SCALARS = (bool, int, float, str, bytes, np.generic)
_MOST_LEVELS = 8  # of arrays and containers in each other


class _Kind:
  """Stands for `numpy.dtype`, whose own state can make it read memory that is not its own."""

  def __init__(self, text: str, *unused: Any):
    if not _KIND.fullmatch(text):
      raise pickle.UnpicklingError(f"it holds an array of {str(text)[:20]!r}")
    self.dtype = np.dtype(text)

  def __setstate__(self, state: tuple[Any, ...]) -> None:
    if state[1] in ("<", ">"):
      self.dtype = self.dtype.newbyteorder(state[1])


class _Array:
  """Stands for `numpy.ndarray`; `values` is the array once the pickle has given its state."""

  values: np.ndarray | None = None

  def __setstate__(self, state: tuple[Any, ...]) -> None:
    _, shape, kind, by_columns, content = state
    if kind.dtype.hasobject:
      flat = np.empty(len(content), object)
      flat[:] = content
    else:
      data = content.encode("latin1") if isinstance(content, str) else content
      flat = np.frombuffer(data, kind.dtype).copy()
    self.values = flat.reshape(shape, order="F" if by_columns else "C")


def _scalar(kind: _Kind, content: Any) -> Any:
  if kind.dtype.hasobject:
    return content
  data = content.encode("latin1") if isinstance(content, str) else content
  return np.frombuffer(data, kind.dtype)[0]


def _latin1(text: str, encoding: str) -> bytes:
  """What pickles of Python 2 and 3 have for bytes."""
  return text.encode("latin1" if encoding == "latin1" else "ascii")


_STAND_INS: dict[tuple[str, str], Any] = {
  ("numpy", "ndarray"): _Array,
  ("numpy", "dtype"): _Kind,
  ("_codecs", "encode"): _latin1,
  **{
    (module, name): stand_in
    for module in ("numpy.core.multiarray", "numpy._core.multiarray")
    for name, stand_in in (("_reconstruct", lambda *_: _Array()), ("scalar", _scalar))
  },
}


class _DataUnpickler(pickle.Unpickler):
  """Builds arrays, numbers, strings and containers; anything else is refused."""

  def find_class(self, module: str, name: str) -> Any:
    if (module, name) not in _STAND_INS:
      raise pickle.UnpicklingError(f"it asks for {module}.{name}")
    return _STAND_INS[module, name]


def _plain(value: Any, level: int = 0) -> Any:
  """The value with NumPy's arrays for their stand-ins."""
  if level > _MOST_LEVELS:
    raise pickle.UnpicklingError("its values nest too deep")
  if isinstance(value, _Array):
    if value.values is None:
      raise pickle.UnpicklingError("it holds an array without content")
    if value.values.dtype.hasobject:
      flat = np.empty(value.values.size, object)
      flat[:] = [_plain(each, level + 1) for each in value.values.ravel()]
      return flat.reshape(value.values.shape)
    return value.values
  if isinstance(value, dict):
    return {key: _plain(each, level + 1) for key, each in value.items()}
  if isinstance(value, (list, tuple)):
    return type(value)(_plain(each, level + 1) for each in value)
  if value is not None and not isinstance(value, _SCALARS):
    raise pickle.UnpicklingError(f"it holds a {type(value).__name__}")
  return value


def load(path: pathlib.Path, what: str) -> np.ndarray:
  """An array of numbers or of plain Python objects.

  Args:
    path: the `.npy` file.
    what: its name in errors.
  """
  try:
    with open(path, "rb") as file:
      if not _holds_objects(file):
        return np.load(file, allow_pickle=False)
      return np.asarray(_plain(_DataUnpickler(file, encoding="latin1").load()), dtype=object)
  except FileNotFoundError:
    raise errors.UserError(f"{what} {path} does not exist") from None
  except Exception as error:  # A damaged header or pickle raises whatever its parser meets.
    raise errors.UserError(f"{what} {path} cannot be read ({error}); write it again") from None


def _holds_objects(file: BinaryIO) -> bool:
  """Reads the header; rewinds if the array is numeric, else stays at the pickle."""
  version = np.lib.format.read_magic(file)
  read_header = (
    np.lib.format.read_array_header_1_0
    if version == (1, 0)
    else np.lib.format.read_array_header_2_0
  )
  _, _, dtype = read_header(file)
  if dtype.hasobject:
    return True
  file.seek(0)
  return False
