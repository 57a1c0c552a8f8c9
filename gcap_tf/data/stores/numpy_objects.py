"""Reads `.npy` files of dictionaries without running code that a pickle may hold."""

import pathlib
import pickle
from typing import Any, BinaryIO

import numpy as np

from gcap_tf import errors

_ALLOWED = {
  ("numpy", "ndarray"),
  ("numpy", "dtype"),
  ("numpy.core.multiarray", "_reconstruct"),
  ("numpy.core.multiarray", "scalar"),
  ("numpy._core.multiarray", "_reconstruct"),
  ("numpy._core.multiarray", "scalar"),
  ("_codecs", "encode"),
}


class _DataUnpickler(pickle.Unpickler):
  """Builds arrays, numbers, strings and containers; anything else is refused."""

  def find_class(self, module: str, name: str) -> Any:
    if (module, name) not in _ALLOWED:
      raise pickle.UnpicklingError(f"it asks for {module}.{name}")
    return super().find_class(module, name)


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
      return np.asarray(_DataUnpickler(file, encoding="latin1").load(), dtype=object)
  except FileNotFoundError:
    raise errors.UserError(f"{what} {path} does not exist") from None
  except (ValueError, EOFError, OSError, pickle.UnpicklingError, AttributeError) as error:
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
