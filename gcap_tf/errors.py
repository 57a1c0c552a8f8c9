"""Errors that a user can act on, and how a program ends with one."""

import logging
import sys
from collections.abc import Callable

from absl import app
from absl import logging as absl_logging


class UserError(Exception):
  """What went wrong, where, and what to do: one line, shown without a traceback."""


def run(main: Callable[[list[str]], int | None]) -> None:
  """Runs `main(argv)` under absl flags; a `UserError` or a file error ends it in one line.

  Exit codes: 0 done, 1 wrong flags or a `UserError`, 130 interrupted.
  """

  def guarded(argv: list[str]) -> int:
    _speak_plainly()
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


def _speak_plainly() -> None:
  """Log lines are for people: the message alone, and none of TensorFlow's own chatter."""
  logging.getLogger("tensorflow").setLevel(logging.WARNING)
  handler = absl_logging.get_absl_handler()
  handler.setFormatter(logging.Formatter("%(message)s"))
  handler.addFilter(
    lambda line: line.levelno >= logging.WARNING or "/tensorflow/" not in line.pathname
  )
