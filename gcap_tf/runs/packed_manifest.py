"""Checksums of a packed run, so that a damaged one is not used: `manifest.json`.

A file that a tool adds later is in it if the tool calls `add`.
"""

import pathlib

from gcap_tf import errors, files
from gcap_tf.runs import packed_backbone, packed_weights

NAME = "manifest.json"
_COVERED = (
  *("config.json", "vocabulary.json", "calibration.json", "word_classes.json"),
  *(packed_weights.NAME, packed_backbone.NAME),
)


def write(folder: pathlib.Path) -> None:
  """Writes the checksums of a packed run and of the detector in it."""
  paths = sorted(path for path in folder.rglob("*") if path.name in _COVERED)
  sums = {path.relative_to(folder).as_posix(): files.sha256(path) for path in paths}
  files.write_sealed_json(folder / NAME, {"sha256": sums})


def add(path: pathlib.Path) -> None:
  """Gives a file that was written into a packed run its checksum; other folders have none."""
  manifest = path.parent / NAME
  if not manifest.exists():
    return
  sums = _read(manifest) | {path.name: files.sha256(path)}
  files.write_sealed_json(manifest, {"sha256": sums})


def check(folder: pathlib.Path) -> None:
  """Raises a `UserError` if a file does not match; a run without the file passes."""
  path = folder / NAME
  if not path.exists():
    return
  for name, expected in _read(path).items():
    file = folder / name
    if not file.is_file():
      raise errors.UserError(f"{file} is missing; pack the run again")
    if files.sha256(file) != expected:
      raise errors.UserError(f"{file} is damaged: it does not match {NAME}; pack the run again")


def _read(path: pathlib.Path) -> dict[str, str]:
  values = files.read_sealed_json(path, "manifest of a packed run")
  if not isinstance(values, dict) or not isinstance(values.get("sha256"), dict):
    raise errors.UserError(f"manifest of a packed run {path} is damaged: it has no checksums")
  return values["sha256"]
