"""Checkpoints that are written whole or not at all, and checked when they are read.

A checkpoint is a folder `step-00001200/` with TensorFlow's checkpoint files and a
`manifest.json` of their SHA-256 sums. It is written under another name and renamed. When
it is read, a folder whose sums do not match is skipped with a message.
"""

import pathlib
from typing import Any

import keras
import tensorflow as tf

from gcap_tf import errors, files

_MANIFEST = "manifest.json"


def best_path(run: files.PathLike) -> pathlib.Path:
  """The folder of a run's best weights."""
  return pathlib.Path(run) / "checkpoints" / "best"


def save(folder: files.PathLike, **objects: tf.Module | keras.Model) -> None:
  """Writes the `objects` as one checkpoint folder, replacing an older one."""
  with files.atomic_path(folder) as partial:
    partial.mkdir()
    tf.train.Checkpoint(**_trackables(objects)).write(str(partial / "state"))
    sums = {path.name: files.sha256(path) for path in sorted(partial.iterdir())}
    manifest = {"sha256": sums, "variables": _listing(objects)}
    files.write_sealed_json(partial / _MANIFEST, manifest)


def restore(folder: files.PathLike, **objects: tf.Module | keras.Model) -> None:
  """Restores `objects` from a checkpoint folder; every one of their variables must be there."""
  folder = pathlib.Path(folder)
  fault = damage(folder)
  if fault:
    raise errors.UserError(f"checkpoint {folder} is damaged: {fault}")
  saved = _read_manifest(folder)["variables"]
  for name, wanted in _listing(objects).items():
    _check_same(folder, name, saved.get(name, []), wanted)
  checkpoint = tf.train.Checkpoint(**_trackables(objects))
  try:
    checkpoint.read(str(folder / "state")).assert_existing_objects_matched().expect_partial()
  except AssertionError:
    raise errors.UserError(
      f"checkpoint {folder} lacks a part of the training state: another version of this program "
      "wrote it; finish the run with that version, or begin it again"
    ) from None


def _trackables(objects: dict[str, tf.Module | keras.Model]) -> dict[str, Any]:
  """The objects that TensorFlow tracks; for a Keras model, the plain list of its variables.

  TensorFlow does not find variables that a Keras layer keeps in a tuple; Keras does.
  """
  return {
    name: [variable.value for variable in thing.variables]
    if isinstance(thing, keras.Model)
    else thing
    for name, thing in objects.items()
  }


def _listing(objects: dict[str, tf.Module | keras.Model]) -> dict[str, list[list[Any]]]:
  """Name and shape of every variable of the Keras models, in order."""
  return {
    name: [[variable.path, list(variable.shape)] for variable in thing.variables]
    for name, thing in objects.items()
    if isinstance(thing, keras.Model)
  }


def _check_same(folder: pathlib.Path, name: str, saved: list, wanted: list) -> None:
  if len(saved) != len(wanted):
    raise errors.UserError(
      f"checkpoint {folder} does not fit the model of its run folder: "
      f"{name} has {len(saved)} variables there, {len(wanted)} in the model"
    )
  for (path, shape), (wanted_path, wanted_shape) in zip(saved, wanted, strict=True):
    if shape != wanted_shape:
      raise errors.UserError(
        f"checkpoint {folder} does not fit the model of its run folder: "
        f"{path} is {shape} there, {wanted_path} is {wanted_shape} in the model"
      )


def damage(folder: files.PathLike) -> str | None:
  """The fault of a checkpoint folder, or None."""
  folder = pathlib.Path(folder)
  if not (folder / _MANIFEST).exists():
    return f"{_MANIFEST} is missing"
  try:
    sums = _read_manifest(folder)["sha256"]
  except errors.UserError:
    return f"{_MANIFEST} cannot be read"
  for name, expected in sums.items():
    path = folder / name
    if not path.exists():
      return f"{name} is missing"
    if files.sha256(path) != expected:
      return f"{name} does not match its checksum"
  return None


def _read_manifest(folder: pathlib.Path) -> dict[str, dict[str, Any]]:
  """Sums of the files, and name and shape of the variables of each model."""
  path = folder / _MANIFEST
  found = files.read_sealed_json(path, "checkpoint manifest")
  parts = [found.get(key) if isinstance(found, dict) else None for key in ("sha256", "variables")]
  if not all(isinstance(part, dict) for part in parts):
    raise errors.UserError(f"checkpoint manifest {path} is damaged")
  listed = [row for rows in parts[1].values() for row in (rows if isinstance(rows, list) else [0])]
  if not all(isinstance(row, list) and len(row) == 2 for row in listed):
    raise errors.UserError(f"checkpoint manifest {path} is damaged")
  return found


class StepCheckpoints:
  """The last few training states of a run, by step."""

  def __init__(self, folder: files.PathLike, keep: int = 3):
    self.folder = pathlib.Path(folder)
    self.keep = keep

  def steps(self) -> list[int]:
    found = self.folder.glob("step-*") if self.folder.exists() else ()
    return sorted(int(path.name.removeprefix("step-")) for path in found)

  def path(self, step: int) -> pathlib.Path:
    return self.folder / f"step-{step:08d}"

  def save(self, step: int, **objects: tf.Module | keras.Model) -> None:
    save(self.path(step), **objects)
    for old in self.steps()[: -self.keep]:
      files.remove(self.path(old))

  def remove_leftovers(self) -> None:
    """Removes folders that killed runs did not finish writing."""
    files.remove_leftovers(self.folder)

  def check_fits(self, **models: keras.Model) -> None:
    """Raises a `UserError` if the newest state is of models with other variables."""
    for step in reversed(self.steps()):
      try:
        saved = _read_manifest(self.path(step))["variables"]
      except errors.UserError:
        continue  # Damaged: `restore_newest` takes the one before, too.
      for name, wanted in _listing(models).items():
        _check_same(self.path(step), name, saved.get(name, []), wanted)
      return

  def restore_newest(self, **objects: tf.Module | keras.Model) -> int:
    """Restores the newest undamaged state; returns its step, 0 if there is none.

    Damaged states are removed once an earlier one fits.
    """
    damaged, found = [], 0
    for step in reversed(self.steps()):
      fault = damage(self.path(step))
      if fault is None:
        restore(self.path(step), **objects)
        found = step
        break
      print(f"checkpoint {self.path(step)} is damaged ({fault}); trying the one before")
      damaged.append(step)
    for step in damaged:
      files.remove(self.path(step))
    return found
