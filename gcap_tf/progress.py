"""Progress bars for people; they fall silent where nobody watches."""

import sys
from collections.abc import Iterable
from typing import TypeVar

import tqdm

T = TypeVar("T")


def bar(
  items: Iterable[T] | None = None, *, label: str, total: int | None = None, unit: str = "it"
) -> tqdm.tqdm:
  """A tqdm bar on standard error: rate and time left, at most two redraws a second.

  Where standard error is not a terminal the bar is drawn every 10 seconds, so
  that log files stay short.
  """
  interval = 0.5 if sys.stderr.isatty() else 10.0
  return tqdm.tqdm(
    items,
    desc=label,
    total=total,
    unit=unit,
    mininterval=interval,
    maxinterval=interval,
    dynamic_ncols=True,
    leave=None,  # Inner bars go when they are done.
    file=sys.stderr,
  )
