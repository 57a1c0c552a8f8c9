"""Numbers in messages: singular and plural, and floats of a sensible length."""

import math
from collections.abc import Collection
from typing import Any


def count(number: int, noun: str, plural: str = "") -> str:
  """ "1 picture", "1,000 pictures"; `plural` if it is not `noun` and an s."""
  return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(fractions: dict[str, Any], keep: Collection[str] = ()) -> dict[str, Any]:
  """Every float of a dictionary times 100; other values, and those of `keep`, stay."""
  return {
    key: 100.0 * value if isinstance(value, float) and key not in keep else value
    for key, value in fractions.items()
  }


def rounded(values: dict[str, Any], decimals: int = 2) -> dict[str, Any]:
  """Every float of a dictionary with at most so many decimals, as for scores in percent."""
  return {k: round(v, decimals) if isinstance(v, float) else v for k, v in values.items()}


def significant(values: dict[str, Any], digits: int = 4) -> dict[str, Any]:
  """Every float of a dictionary with so many significant digits, as for losses."""

  def shorten(value: float) -> float:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else value

  return {k: shorten(v) if isinstance(v, float) else v for k, v in values.items()}
