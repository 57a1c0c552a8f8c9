"""Texts, integers and arrays in the feature map of a `tf.train.Example`."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np


class FeatureWriter:
  """Fills the feature map of an example."""

  def __init__(self, feature_map):
    self._map = feature_map

  def raw(self, name: str, values: Iterable[bytes]) -> None:
    self._map[name].bytes_list.value.extend(values)

  def text(self, name: str, values: Iterable[str]) -> None:
    self.raw(name, (value.encode("utf-8") for value in values))

  def integers(self, name: str, values: Iterable[int]) -> None:
    self._map[name].int64_list.value.extend(values)

  def floats(self, name: str, arrays: Sequence[np.ndarray]) -> None:
    """All numbers of the arrays as one row of little-endian float32 bytes."""
    self.raw(name, [b"".join(np.ascontiguousarray(a, "<f4").tobytes() for a in arrays)])

  def short_floats(self, name: str, rows: np.ndarray) -> None:
    """As float16 if that loses nothing, else as float32."""
    with np.errstate(over="ignore"):
      half = np.ascontiguousarray(rows, "<f2")
    if np.array_equal(half.astype(np.float32), rows):
      self.raw(f"{name}16", [half.tobytes()])
    else:
      self.floats(name, [rows])

  def table(self, name: str, rows: np.ndarray) -> None:
    """Rows [n, D] as `short_floats`; columns of zeros are left out if half of all are such."""
    # Bits, not values: -0.0 is kept.
    used = np.ascontiguousarray(rows, "<f4").view("<u4").any(axis=0)
    if rows.size and 2 * np.count_nonzero(used) <= len(used):
      self.raw(f"{name}_columns", [np.packbits(used).tobytes()])
      rows = rows[:, used]
    self.short_floats(name, rows)

  def text_lists(self, name: str, lists: Sequence[Sequence[str]]) -> None:
    """Lists of strings as `{name}_count` and `{name}s`."""
    self.integers(f"{name}_count", [len(values) for values in lists])
    self.text(f"{name}s", [value for values in lists for value in values])


class FeatureReader:
  """Reads the feature map of an example; a feature that is not there is empty."""

  def __init__(self, feature_map):
    self._map = feature_map

  def has(self, name: str) -> bool:
    return name in self._map

  def raw(self, name: str) -> list[bytes]:
    return list(self._map[name].bytes_list.value) if name in self._map else []

  def text(self, name: str) -> tuple[str, ...]:
    return tuple(value.decode("utf-8") for value in self.raw(name))

  def integers(self, name: str) -> list[int]:
    return list(self._map[name].int64_list.value) if name in self._map else []

  def floats(self, name: str) -> np.ndarray:
    values = self.raw(name)
    return np.frombuffer(values[0] if values else b"", "<f4")

  def short_floats(self, name: str) -> np.ndarray:
    """Float32, whichever way they are stored."""
    halves = self.raw(f"{name}16")
    return np.frombuffer(halves[0], "<f2").astype(np.float32) if halves else self.floats(name)

  def table(self, name: str, rows: int, size: int) -> np.ndarray:
    """[rows, size] float32, zeros where a column was left out."""
    columns = self.raw(f"{name}_columns")
    if not columns:
      return self.short_floats(name).reshape(rows, size)
    used = np.unpackbits(np.frombuffer(columns[0], np.uint8), count=size).astype(bool)
    found = np.zeros([rows, size], np.float32)
    found[:, used] = self.short_floats(name).reshape(rows, np.count_nonzero(used))
    return found

  def text_lists(self, name: str) -> list[tuple[str, ...]]:
    values = iter(self.text(f"{name}s"))
    return [tuple(itertools.islice(values, n)) for n in self.integers(f"{name}_count")]
