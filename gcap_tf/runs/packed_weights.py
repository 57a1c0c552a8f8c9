"""A model's weights as one small file, `RUN/weights.npz`, for finished runs.

Float32 weights are kept in float16 and read back to float32. The name of an entry is
`NUMBER/PATH`, its number among the model's variables and its path in the model; weights that
are missing, surplus or of another shape are refused.
"""

import pathlib
import re

import keras
import numpy as np

from gcap_tf import errors, files

NAME = "weights.npz"
_HALF_MAX = float(np.finfo(np.float16).max)


def save(path: files.PathLike, model: keras.Model) -> None:
  """Writes the weights of a built model."""
  packed = {}
  for key, variable in _named(model).items():
    packed[key] = _half(variable.path, np.asarray(variable.value))
  with files.atomic_path(path) as partial, open(partial, "wb") as file:
    np.savez_compressed(file, **packed)


def restore(path: files.PathLike, model: keras.Model) -> None:
  """Gives a built model the weights of a file; a `UserError` if one does not fit."""
  found, wanted = read_arrays(path), _named(model)
  for fault, keys in (
    ("lacks", [key for key in wanted if key not in found]),
    ("has, and the model has not,", [key for key in found if key not in wanted]),
  ):
    if keys:
      more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
      raise errors.UserError(
        f"weights {path} do not fit the model of their run folder: the file {fault} {keys[0]}{more}"
      )
  for key, variable in wanted.items():
    array = found[key]
    if array.shape != tuple(variable.shape):
      raise errors.UserError(
        f"weights {path} do not fit the model of their run folder: {key} is {list(array.shape)} "
        f"there, {list(variable.shape)} in the model"
      )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
      raise errors.UserError(f"weights {path} are damaged: {key} holds a value that is not finite")
  for key, variable in wanted.items():
    variable.assign(found[key].astype(variable.dtype))


def read_arrays(path: files.PathLike) -> dict[str, np.ndarray]:
  """Every array of an .npz file; anything else is a `UserError`."""
  try:
    archive = np.load(path, allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile):
      raise ValueError("it holds a single array")
    with archive:
      return {key: archive[key] for key in archive.files}
  except FileNotFoundError:
    raise errors.UserError(f"weights {path} do not exist") from None
  except OSError:
    raise
  except Exception as error:  # NumPy raises whatever a damaged header makes of its parser.
    raise errors.UserError(
      f"weights {path} are not a numpy.savez file of arrays ({error})"
    ) from None


def path_of(run: files.PathLike) -> pathlib.Path:
  """The file of a packed run's weights."""
  return pathlib.Path(run) / NAME


def _named(model: keras.Model) -> dict[str, keras.Variable]:
  """Every variable by a name that is the same in any process.

  Keras numbers the layers of a process ("linear_7"); the numbers are left out.
  """
  return {
    f"{number:03d}/{re.sub(r'_[0-9]+(?=/|$)', '', variable.path)}": variable
    for number, variable in enumerate(model.variables)
  }


def _half(path: str, array: np.ndarray) -> np.ndarray:
  if array.dtype != np.float32:
    return array
  if not np.isfinite(array).all() or (array.size and np.abs(array).max() > _HALF_MAX):
    raise errors.UserError(f"weight {path} does not fit into float16: the run cannot be packed")
  return array.astype(np.float16)
