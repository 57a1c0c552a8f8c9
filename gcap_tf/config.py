"""Frozen dataclass configurations: to and from JSON, and `--set key.path=value`."""

import dataclasses
import difflib
import json
import types
import typing
from typing import Any, TypeVar

from gcap_tf import errors

C = TypeVar("C")


def to_dict(config: Any) -> dict[str, Any]:
  """A nested dictionary of plain JSON values."""
  return json.loads(json.dumps(dataclasses.asdict(config)))


def from_dict(cls: type[C], values: dict[str, Any], where: str = "config") -> C:
  """Builds `cls` from a dictionary; an unknown key or a wrong type is a `UserError`."""
  hints = typing.get_type_hints(cls)
  fields = {field.name for field in dataclasses.fields(cls)}
  for key in values:
    if key not in fields:
      near = difflib.get_close_matches(key, fields, n=1)
      hint = f' (did you mean "{near[0]}"?)' if near else ""
      raise errors.UserError(
        f'{where}: unknown option "{key}" of {cls.__name__}; '
        f"known: {', '.join(sorted(fields))}{hint}"
      )
  return cls(
    **{key: _convert(hints[key], value, f"{where}.{key}") for key, value in values.items()}
  )


def override(config: C, assignments: list[str]) -> C:
  """Applies `key.path=value` strings; values are JSON, or plain text where that fails."""
  values = to_dict(config)
  for assignment in assignments:
    path, separator, text = assignment.partition("=")
    if not separator:
      raise errors.UserError(f'--set={assignment}: write it as "key.path=value"')
    *parents, last = path.split(".")
    inner = values
    for parent in parents:
      if not isinstance(inner.get(parent), dict):
        raise errors.UserError(f'--set={assignment}: there is no group "{parent}"')
      inner = inner[parent]
    try:
      inner[last] = json.loads(text)
    except json.JSONDecodeError:
      inner[last] = text
  return from_dict(type(config), values, "--set")


def _convert(hint: Any, value: Any, where: str) -> Any:
  if hint is Any:
    return value
  origin, arguments = typing.get_origin(hint), typing.get_args(hint)
  if dataclasses.is_dataclass(hint):
    return from_dict(hint, value, where)
  if origin in (typing.Union, types.UnionType):
    if value is None and type(None) in arguments:
      return None
    return _convert(next(a for a in arguments if a is not type(None)), value, where)
  if origin is typing.Literal:
    if value not in arguments:
      raise errors.UserError(
        f"{where} is {value!r}; choose one of {', '.join(map(repr, arguments))}"
      )
    return value
  if origin is tuple:
    if not isinstance(value, (list, tuple)):
      raise errors.UserError(f"{where} is {value!r}; expected a list")
    return tuple(_convert(arguments[0], item, where) for item in value)
  if origin is dict:
    return {key: _convert(arguments[1], item, where) for key, item in value.items()}
  if hint is float and isinstance(value, int) and not isinstance(value, bool):
    return float(value)
  if isinstance(hint, type) and (
    not isinstance(value, hint) or (hint is not bool and isinstance(value, bool))
  ):
    raise errors.UserError(f"{where} is {value!r}; expected {hint.__name__}")
  return value
