"""Command lines to show to a user, as they can be typed on this machine.

command("prepare_data")   gcap prepare_data                               pip-installed
                          .venv/bin/python -m trainers.prepare_data       in a clone
"""

import functools
import pathlib
import re
import shutil

# Commands live in the folder `trainers`, but for these.
_FOLDERS = {
  "export_model": "export",
  "pack_run": "export",
  "server": "serving",
  "client": "serving",
  "fetch_spice": "gcap_tf/metrics",
}
_ROOT = pathlib.Path(__file__).resolve().parent.parent
_PROGRAM = re.compile(r"\bpython -m ((?:trainers|export|serving|gcap_tf)(?:\.\w+)+)")


def module(name: str) -> str:
  """The module of a command: `trainers.caption` of "caption"."""
  return f"{_FOLDERS.get(name, 'trainers').replace('/', '.')}.{name}"


def command(name: str) -> str:
  """How a user starts a command."""
  return program(module(name))


def program(module_name: str) -> str:
  """How a user starts the program of a module."""
  starter = _python()
  if starter:
    return f"{starter} -m {module_name}"
  return f"gcap {module_name.rpartition('.')[2]}"


def localise(text: str) -> str:
  """`text` in which every "python -m trainers.NAME" is what this user types."""
  return _PROGRAM.sub(lambda found: program(found[1]), text)


@functools.cache
def _python() -> str:
  """The Python of a clone, or "" where the console command `gcap` is installed."""
  if not (_ROOT / "pyproject.toml").exists():
    return ""
  if (_ROOT / ".venv" / "bin" / "python").exists():
    return ".venv/bin/python"
  return "" if shutil.which("gcap") else "python"
