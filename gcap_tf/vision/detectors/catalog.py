"""Opens a detector by what `--detector` says."""

from collections.abc import Callable

from gcap_tf.vision.detectors import (
  base,
  keras_hub,
  own,
  plain_grid,
  saved_model,
  stored,
  tflite,
  union,
)

__all__ = [
  "is_foreign",
  "keras_hub",
  "open_detector",
  "plain_grid",
  "saved_model",
  "stored",
  "tflite",
]


def is_foreign(name: str) -> bool:
  """Whether `name` is `PREFIX:WHAT` of a detector that is not ours, or has one in a union."""
  return any(_has_prefix(part) for part in name.split(union.SIGN))


def open_detector(
  name: str, names_file: str = "", open_run: Callable[[str], own.DetectorRun] | None = None
) -> base.Detector:
  """The detector `PREFIX:WHAT`, or a union.

  Args:
    name: such as "tflite:efficientdet.tflite", or "tflite:efficientdet.tflite+shipped".
    names_file: names of its classes, one a line, if they are not the usual ones.
    open_run: opens a run of our detector, for a union with it.
  """
  parts = name.split(union.SIGN)
  if len(parts) > 1:
    return union.Union(name, [_open(part, names_file, open_run) for part in parts])
  return _open(name, names_file, None)


def _open(name: str, names_file: str, open_run) -> base.Detector:
  if open_run is not None and not _has_prefix(name):
    return own.OwnDetector(name, open_run(name))
  prefix, _, what = name.partition(":")
  names = base.read_names(names_file) if names_file else None
  return base.DETECTORS.get(prefix)(what, names)


def _has_prefix(name: str) -> bool:
  return name.partition(":")[0] in base.DETECTORS.names()
