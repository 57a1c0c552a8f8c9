"""Frozen dataclass configurations: to and from JSON, ranges, and `--set key.path=value`.

A field states its range in its type, and its meaning in the `Attributes:` of its class:

    rate: config.Fraction = 0.5        from 0 to 1
    images: config.PositiveInt = 29    1 or more
    seed: config.Seed = 1              from 0 to 2147483647
"""

import dataclasses
import difflib
import json
import math
import re
import types
import typing
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from gcap_tf import errors

C = TypeVar("C")
_PYTHON = {"True": True, "False": False, "None": None}  # How people and programs write them, too.


@dataclasses.dataclass(frozen=True)
class Range:
  """Allowed values, both ends included unless `above` excludes the lower one."""

  low: float = -math.inf
  high: float = math.inf
  above: bool = False

  def __contains__(self, value: float) -> bool:
    return (
      math.isfinite(value)
      and self.low <= value <= self.high
      and not (self.above and value == self.low)
    )

  def __str__(self) -> str:
    if math.isfinite(self.high):
      return f"{'above' if self.above else 'from'} {self.low:g} to {self.high:g}"
    return f"above {self.low:g}" if self.above else f"{self.low:g} or more"


PositiveInt = Annotated[int, Range(1)]
Count = Annotated[int, Range(0)]
Fraction = Annotated[float, Range(0.0, 1.0)]
Rate = Annotated[float, Range(0.0, 1.0, above=True)]
Weight = Annotated[float, Range(0.0)]
Positive = Annotated[float, Range(0.0, above=True)]
Seed = Annotated[int, Range(0, 2**31 - 1)]  # What NumPy, Keras and int32 tensors take.
Port = Annotated[int, Range(0, 65535)]
CountOrNone = Annotated[int, Range(-1)]  # -1 is none.


def to_dict(config: Any) -> dict[str, Any]:
  """A nested dictionary of plain JSON values."""
  return json.loads(json.dumps(dataclasses.asdict(config)))


def from_dict(cls: type[C], values: dict[str, Any], where: str = "config") -> C:
  """Builds `cls` from a dictionary.

  An unknown key, a wrong type and a value out of its range are a `UserError`, which calls
  the option `where.key`, or `key` if `where` is "".
  """
  hints = typing.get_type_hints(cls, include_extras=True)
  fields = {field.name for field in dataclasses.fields(cls)}
  prefix = f"{where}." if where else ""
  for key in values:
    if key not in fields:
      near = difflib.get_close_matches(key, fields, n=1)
      hint = f' (did you mean "{near[0]}"?)' if near else ""
      raise errors.UserError(
        f'{f"{where}: " if where else ""}unknown option "{key}" of {cls.__name__}; '
        f"known: {', '.join(sorted(fields))}{hint}"
      )
  return cls(**{key: _convert(hints[key], value, prefix + key) for key, value in values.items()})


def check(config: C, where: str = "config") -> C:
  """`config` itself; a `UserError` names the first value that is out of its range."""
  return from_dict(type(config), to_dict(config), where)


def override(config: C, assignments: list[str]) -> C:
  """Applies `key.path=value` strings: values in JSON, True, False, None, or else plain text."""
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
      inner[last] = _PYTHON.get(text, text)
  return from_dict(type(config), values, "")


def describe(config: Any, prefix: str = "") -> list[tuple[str, str, str, str]]:
  """Every option of a configuration: (key, type and range, default, meaning)."""
  rows, meanings = [], _meanings(type(config))
  hints = typing.get_type_hints(type(config), include_extras=True)
  for field in dataclasses.fields(config):
    value, key = getattr(config, field.name), f"{prefix}{field.name}"
    if dataclasses.is_dataclass(value):
      rows += describe(value, f"{key}.")
    else:
      default = json.dumps(value)
      rows.append((key, _type_name(hints[field.name]), default, meanings.get(field.name, "")))
  return rows


def table(rows: Sequence[tuple[str, str, str, str]]) -> str:
  """Rows of `describe` as lines of four columns."""
  shown = [("option", "type and range", "default", "meaning"), *rows]
  widths = [min(max(len(row[column]) for row in shown), 34) for column in range(3)]
  return "\n".join(
    "  ".join([*(row[n].ljust(widths[n]) for n in range(3)), row[3]]).rstrip() for row in shown
  )


def _meanings(cls: type) -> dict[str, str]:
  """Field name -> its lines of `Attributes:`, of the class and of those it extends."""
  found: dict[str, str] = {}
  for ancestor in reversed(cls.__mro__):
    _, _, section = (ancestor.__doc__ or "").partition("Attributes:\n")
    names: list[str] = []
    for line in section.splitlines():
      entry = re.fullmatch(r"\s*(\w+(?:, \w+)*): (.*)", line)
      if entry:
        names = entry[1].split(", ")
        found.update(dict.fromkeys(names, entry[2]))
      else:
        found.update({name: f"{found[name]} {line.strip()}".strip() for name in names})
  return found


def _type_name(hint: Any) -> str:
  origin, arguments = typing.get_origin(hint), typing.get_args(hint)
  if origin is Annotated:
    return f"{_type_name(arguments[0])}, {arguments[1]}"
  if origin is typing.Literal:
    return " | ".join(map(str, arguments))
  if origin in (typing.Union, types.UnionType):
    return " or ".join(_type_name(a) for a in arguments)
  if origin is tuple:
    return f"list of {_type_name(arguments[0])}"
  if origin is dict:
    return "group"
  return "nothing" if hint is type(None) else getattr(hint, "__name__", str(hint))


def _convert(hint: Any, value: Any, where: str) -> Any:
  if hint is Any:
    return value
  origin, arguments = typing.get_origin(hint), typing.get_args(hint)
  if origin is Annotated:
    return _in_range(arguments[1], _convert(arguments[0], value, where), where)
  if dataclasses.is_dataclass(hint):
    if not isinstance(value, dict):
      raise errors.UserError(f"{where} is {value!r}; it is a group: set {where}.OPTION=VALUE")
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
    if not isinstance(value, dict):
      raise errors.UserError(f"{where} is {value!r}; it is a group: set {where}.OPTION=VALUE")
    return {key: _convert(arguments[1], item, where) for key, item in value.items()}
  return _plain(hint, value, where)


def _plain(hint: Any, value: Any, where: str) -> Any:
  if hint is float and isinstance(value, int) and not isinstance(value, bool):
    return float(value)
  if isinstance(hint, type) and (
    not isinstance(value, hint) or (hint is not bool and isinstance(value, bool))
  ):
    raise errors.UserError(f"{where} is {value!r}; expected {hint.__name__}")
  return value


def _in_range(allowed: Range, value: Any, where: str) -> Any:
  if value not in allowed:
    raise errors.UserError(f"{where} is {value!r}; expected {allowed}")
  return value
