"""Checksums of a packed run, so that a damaged one is not used: `manifest.json`.

Files that tools add to a packed run later, such as `calibration.json`, are not in it.
"""

import pathlib

from gcap_tf import errors, files
from gcap_tf.runs import packed_weights

NAME = "manifest.json"
_COVERED = ("config.json", "vocabulary.json", packed_weights.NAME)


def write(folder: pathlib.Path) -> None:
  """Writes the checksums of a packed run and of the detector in it."""
  paths = sorted(path for path in folder.rglob("*") if path.name in _COVERED)
  sums = {path.relative_to(folder).as_posix(): files.sha256(path) for path in paths}
  files.write_json(folder / NAME, files.seal({"sha256": sums}))


def check(folder: pathlib.Path) -> None:
  """Raises a `UserError` if a file does not match; a run without the file passes."""
  path = folder / NAME
  if not path.exists():
    return
  values = files.read_json(path, "manifest of a packed run")
  if not isinstance(values, dict) or not isinstance(values.get("sha256"), dict):
    raise errors.UserError(f"manifest of a packed run {path} is damaged: it has no checksums")
  for name, expected in files.unseal(values, path, "manifest of a packed run")["sha256"].items():
    file = folder / name
    if not file.is_file():
      raise errors.UserError(f"{file} is missing; pack the run again")
    if files.sha256(file) != expected:
      raise errors.UserError(f"{file} is damaged: it does not match {NAME}; pack the run again")
