"""Checked access to values of a user's JSON file; errors name the place and the key."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gcap_tf import errors

_MOST = 1e9  # pixels


def get(value: Any, key: str, kind: type | tuple[type, ...], where: str) -> Any:
  """The value under a key, of the kind expected."""
  if not isinstance(value, dict) or key not in value:
    raise errors.UserError(f'{where}: no key "{key}"')
  if not isinstance(value[key], kind) or isinstance(value[key], bool):
    kinds = kind if isinstance(kind, tuple) else (kind,)
    expected = " or ".join(k.__name__ for k in kinds)
    raise errors.UserError(f'{where}: "{key}" is {type(value[key]).__name__}, expected {expected}')
  return value[key]


def strings(value: Any, key: str, where: str) -> tuple[str, ...]:
  items = get(value, key, list, where)
  if not all(isinstance(item, str) for item in items):
    raise errors.UserError(f'{where}: "{key}" must list strings')
  return tuple(items)


def whole_numbers(value: Any, key: str, where: str) -> tuple[int, ...]:
  items = get(value, key, list, where)
  if not all(type(item) is int for item in items):
    raise errors.UserError(f'{where}: "{key}" must list whole numbers')
  return tuple(items)


def boxes(
  value: Any, key: str, where: str, shape: tuple[int, ...] = (4,), cut: bool = False
) -> np.ndarray:
  """Boxes in pixels: [n, *shape] float32, all finite.

  With `cut`, numbers of a box after the fourth are left out.
  """
  items = get(value, key, list, where)
  if cut:
    items = _cut(items, len(shape))
  if not items:
    return np.zeros((0, *shape), np.float32)
  try:
    array = np.array(items)
  except ValueError:  # rows of different lengths
    array = np.array(None)
  fits = array.dtype.kind in "iuf" and array.shape[1:] == shape
  if not fits or not (np.abs(array) <= _MOST).all():
    each = f"{shape[0]} boxes" if len(shape) > 1 else "boxes"
    raise errors.UserError(f'{where}: "{key}" must list {each} of four finite numbers, in pixels')
  return array.astype(np.float32)


def _cut(items: Any, depth: int) -> Any:
  """The first four items of every list `depth` levels down."""
  if not isinstance(items, list):
    return items
  return [_cut(item, depth - 1) for item in items] if depth else items[:4]


def same_length(where: str, **lists: Sequence[Any]) -> None:
  """Refuses parallel lists of different lengths."""
  if len({len(items) for items in lists.values()}) > 1:
    sizes = ", ".join(f"{name} {len(items)}" for name, items in lists.items())
    raise errors.UserError(f"{where}: lists differ in length ({sizes})")
