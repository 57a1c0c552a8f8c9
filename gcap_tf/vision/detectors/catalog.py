"""Opens a detector by what `--detector` says."""

from gcap_tf.vision.detectors import base, keras_hub, plain_grid, saved_model, stored, tflite

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
  """Whether `name` is `PREFIX:WHAT` of a detector that is not ours."""
  return name.partition(":")[0] in base.DETECTORS.names()


def open_detector(name: str, names_file: str = "") -> base.Detector:
  """The detector `PREFIX:WHAT`.

  Args:
    name: such as "tflite:efficientdet.tflite".
    names_file: names of its classes, one a line, if they are not the usual ones.
  """
  prefix, _, what = name.partition(":")
  names = base.read_names(names_file) if names_file else None
  return base.DETECTORS.get(prefix)(what, names)
