"""Errors that a user can act on, and how a command starts and ends."""

import inspect
import logging
import re
import sys
from collections.abc import Callable, Sequence

from absl import app, flags
from absl import logging as absl_logging

from gcap_tf import commands, quiet

_HELP = ("-h", "-help", "--help", "-helpshort", "--helpshort")
_FULL_HELP = ("-helpfull", "--helpfull")
# Packages that a slim install lacks, and the extra that installs them.
_EXTRAS = {
  **dict.fromkeys(("h5py", "pycocoevalcap", "spacy", "tensorboard", "tensorflow_text"), "train"),
  "apache_beam": "beam",
}
_MISSING = re.compile(r"flag --(\w+)=None: Flag --\w+ must have a value other than None\.")


class UserError(Exception):
  """What is wrong, where, and what to do: one line, shown without a traceback.

  Attributes:
    details: lines that a command prints before that line, such as a table.
  """

  def __init__(self, message: str, details: str = ""):
    super().__init__(message)
    self.details = details


def run(main: Callable[[list[str]], int | None], takes_arguments: bool = False) -> None:
  """Runs `main(argv)` under absl flags; a `UserError` or a file error ends it in one line.

  `takes_arguments` allows words that are not flags, such as file names.

  `main` imports TensorFlow itself, so that `--help` and wrong flags are answered at once.
  Exit codes: 0 done, 1 wrong flags or a `UserError`, 130 interrupted.
  """
  flags.DEFINE_bool("verbose", False, "Shows TensorFlow's own log lines, too.")
  flags.FLAGS.register_key_flag_for_module(sys.argv[0], flags.FLAGS["verbose"])
  if any(word in _HELP + _FULL_HELP for word in sys.argv[1:]):
    print(_help(full=any(word in _FULL_HELP for word in sys.argv[1:])))
    sys.exit(0)

  def guarded(argv: list[str]) -> int:
    if not flags.FLAGS.verbose:
      quiet.silence_tensorflow()
    _format_log_lines()
    try:
      if len(argv) > 1 and not takes_arguments:
        raise UserError(f"unexpected argument {argv[1]!r}: options are written --name=value")
      return main(argv) or 0
    except (UserError, OSError) as error:
      if getattr(error, "details", ""):
        print(error.details, file=sys.stderr)
      print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
      return 1
    except ModuleNotFoundError as error:
      package = (error.name or "").partition(".")[0]
      if package not in _EXTRAS:
        raise
      text = f"{package} is not installed: pip install gcap_tf[{_EXTRAS[package]}]"
      print(f"error: {text}", file=sys.stderr)
      return 1
    except KeyboardInterrupt:
      print("interrupted", file=sys.stderr)
      return 130

  app.run(guarded, flags_parser=_parse)


def require(*needed: flags.FlagHolder) -> None:
  """A `UserError` names the first of these flags that is missing."""
  for flag in needed:
    if flag.value is None:
      raise UserError(f"--{flag.name} is missing; --help explains it")


def whole_numbers(flag: flags.FlagHolder) -> list[int]:
  """The value of a list flag as numbers."""
  try:
    return [int(text) for text in flag.value]
  except ValueError:
    raise UserError(
      f"--{flag.name}={','.join(flag.value)}: expected whole numbers separated by commas"
    ) from None


def _parse(argv: Sequence[str]) -> list[str]:
  try:
    return flags.FLAGS(argv)
  except flags.Error as error:
    text = _MISSING.sub(r"--\1 is missing", " ".join(str(error).split())).rstrip(".")
    print(f"error: {text}; --help explains the flags", file=sys.stderr)
    sys.exit(1)


def _help(full: bool) -> str:
  """The docstring of the program and its flags; all flags of all modules if `full`."""
  about = inspect.cleandoc(sys.modules["__main__"].__doc__ or "")
  if full:
    listed = flags.FLAGS.get_help()
  else:
    listed = flags.FLAGS.main_module_help().strip().partition("\n")[2]
  return f"{commands.localise(about)}\n\nFlags:\n{listed}"


def _format_log_lines() -> None:
  """Log lines show the message alone; information from inside TensorFlow is dropped."""
  logging.getLogger("tensorflow").setLevel(logging.WARNING)
  handler = absl_logging.get_absl_handler()
  handler.setFormatter(logging.Formatter("%(message)s"))
  handler.addFilter(
    lambda line: line.levelno >= logging.WARNING or "/tensorflow/" not in line.pathname
  )
