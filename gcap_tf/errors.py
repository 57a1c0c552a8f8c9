"""Errors that a user can act on, and how a program ends with one."""

import sys
from collections.abc import Callable

from absl import app


class UserError(Exception):
  """What went wrong, where, and what to do: one line, shown without a traceback."""


def run(main: Callable[[list[str]], int | None]) -> None:
  """Runs `main(argv)` under absl flags; a `UserError` or a file error ends it in one line.

  Exit codes: 0 done, 1 wrong flags or a `UserError`, 130 interrupted.
  """

  def guarded(argv: list[str]) -> int:
    try:
      if len(argv) > 1:
        raise UserError(f"unexpected argument {argv[1]!r}: options are written --name=value")
      return main(argv) or 0
    except (UserError, OSError) as error:
      print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
      return 1
    except KeyboardInterrupt:
      print("interrupted", file=sys.stderr)
      return 130

  app.run(guarded)
