"""Reads the tensors of a legacy PyTorch checkpoint without PyTorch and without trust.

Before its zip format `torch.save` wrote, one after another, the pickles of a magic number,
a version, facts about the machine, the saved object (tensors name their storages), the
storages' keys; then for each key its length (int64) and its raw values.

A pickle may call anything it names. The reader resolves only the five kinds of names that a
state dict of tensors needs, and refuses every other one before anything is called.
"""

import collections
import io
import pickle
import struct
from typing import Any, BinaryIO

import numpy as np

from gcap_tf import errors, files

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_DTYPES = {
  "FloatStorage": np.float32,
  "DoubleStorage": np.float64,
  "HalfStorage": np.float16,
  "LongStorage": np.int64,
  "IntStorage": np.int32,
  "ByteStorage": np.uint8,
  "BoolStorage": np.bool_,
}


def read(path: files.PathLike) -> dict[str, np.ndarray]:
  """Name -> array of a state dict; a `UserError` if the file holds anything else."""
  with open(path, "rb") as file:
    data = io.BytesIO(file.read())
  try:
    return _read(data)
  except errors.UserError as error:
    raise errors.UserError(f"checkpoint {path}: {error}") from None
  except (
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    struct.error,
  ) as error:
    raise errors.UserError(
      f"checkpoint {path} is not a legacy PyTorch state dict ({error})"
    ) from None
  except (AttributeError, TypeError, ImportError, UnicodeDecodeError, OverflowError) as error:
    raise errors.UserError(f"checkpoint {path} is damaged ({error})") from None


class _Storage:
  """Values that tensors share; filled after the pickles were read."""

  def __init__(self, dtype: type, size: int):
    self.dtype = np.dtype(dtype)
    self.size = size
    self.values: np.ndarray | None = None


class _Tensor:
  """A view of a storage, resolved once its values are known."""

  def __init__(self, storage: _Storage, offset: int, shape: tuple, strides: tuple):
    self.storage, self.offset, self.shape, self.strides = storage, offset, shape, strides

  def array(self) -> np.ndarray:
    sizes = zip(self.shape, self.strides, strict=True)
    last = self.offset + sum((size - 1) * stride for size, stride in sizes)
    if 0 in self.shape:
      return np.zeros(self.shape, self.storage.dtype)
    if min((self.offset, *self.strides)) < 0 or last >= self.storage.size:
      raise errors.UserError("a tensor reaches past its storage; fetch the file again")
    width = self.storage.dtype.itemsize
    return np.lib.stride_tricks.as_strided(
      self.storage.values[self.offset :], self.shape, [stride * width for stride in self.strides]
    ).copy()


def _tensor(storage, offset, shape, strides, requires_grad=False, hooks=None, metadata=None):
  del requires_grad, hooks, metadata
  if not isinstance(storage, _Storage):
    raise errors.UserError("a tensor without a storage; fetch the file again")
  return _Tensor(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


class _Unpickler(pickle.Unpickler):
  """Knows tensors and ordered dictionaries, nothing else."""

  def __init__(self, file: BinaryIO, storages: dict[str, _Storage]):
    super().__init__(file, encoding="utf-8")
    self._storages = storages

  def find_class(self, module: str, name: str) -> Any:
    if (module, name) == ("collections", "OrderedDict"):
      return collections.OrderedDict
    if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
      return _tensor
    if module == "torch" and name in _DTYPES:
      return _DTYPES[name]
    raise errors.UserError(f"it names {module}.{name}, which is no tensor; it is not read")

  def persistent_load(self, pid: Any) -> _Storage:
    kind, dtype, key, _, size, *_ = pid
    if kind != "storage" or dtype not in _DTYPES.values():
      raise errors.UserError(f"it refers to {str(kind)!r}, which is no storage; it is not read")
    return self._storages.setdefault(str(key), _Storage(dtype, int(size)))


def _read(file: BinaryIO) -> dict[str, np.ndarray]:
  storages: dict[str, _Storage] = {}
  magic, version, _ = (_Unpickler(file, storages).load() for _ in range(3))
  if magic != _MAGIC or version != _VERSION:
    raise ValueError("wrong magic number or version")
  state = _Unpickler(file, storages).load()
  if not isinstance(state, dict) or not all(isinstance(t, _Tensor) for t in state.values()):
    raise errors.UserError("expected a dictionary of tensors; it is not read")
  for key in _Unpickler(file, storages).load():
    storage = storages[key]
    (length,) = struct.unpack("<q", file.read(8))
    if length != storage.size:
      raise ValueError(f"storage {key} has {length} values, expected {storage.size}")
    raw = file.read(length * storage.dtype.itemsize)
    if len(raw) != length * storage.dtype.itemsize:
      raise ValueError("the file ends early")
    storage.values = np.frombuffer(raw, storage.dtype)
  if any(storage.values is None for storage in storages.values()):
    raise ValueError("a storage is missing")
  return {str(name): tensor.array() for name, tensor in state.items()}
