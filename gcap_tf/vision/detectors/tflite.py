"""Detectors as TFLite files: `tflite:FILE`.

Four outputs of the usual post-processing: boxes [1, N, 4] (ymin, xmin, ymax, xmax from 0 to 1 of
the input), classes [1, N], scores [1, N], count [1]. Class names are in the file's own label map.
"""

import contextlib
import os
import pathlib
import warnings
import zipfile
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.vision.detectors import base

_UNNAMED = "???"


class TFLiteDetector(base.Detector):
  """Runs on one thread; extraction uses one process a core."""

  def __init__(self, path: str, names: Sequence[str] | None = None):
    super().__init__(f"tflite:{path}")
    self._interpreter = _interpreter(path)
    self._names = list(names) if names is not None else _label_map(path)
    (self._input,) = self._interpreter.get_input_details()
    self._side = int(self._input["shape"][1])
    self._outputs = _outputs(self._interpreter.get_output_details(), path)

  def detect(self, image: np.ndarray, image_id: str) -> base.Detections:
    del image_id
    placed, content = base.on_canvas(image, self._side)
    self._interpreter.set_tensor(self._input["index"], self._as_input(placed))
    self._interpreter.invoke()
    boxes, classes, scores = (self._interpreter.get_tensor(index)[0] for index in self._outputs)
    boxes = base.of_picture(boxes[:, [1, 0, 3, 2]], content)
    return base.detections(boxes, [self._name(int(number)) for number in classes], scores)

  def _as_input(self, placed: np.ndarray) -> np.ndarray:
    if self._input["dtype"] == np.uint8:
      return np.round(placed).astype(np.uint8)
    return ((placed - 127.0) / 128.0).astype(np.float32)

  def _name(self, number: int) -> str:
    name = self._names[number] if 0 <= number < len(self._names) else ""
    return "" if name == _UNNAMED else name


@base.DETECTORS.register("tflite")
def open_tflite(path: str, names: Sequence[str] | None) -> TFLiteDetector:
  return TFLiteDetector(path, names)


def _interpreter(path: str) -> tf.lite.Interpreter:
  if not pathlib.Path(path).is_file():
    raise errors.UserError(f"detector tflite:{path} does not exist")
  try:
    with warnings.catch_warnings(), _quiet():
      warnings.simplefilter("ignore")  # It says that it moves to another package.
      interpreter = tf.lite.Interpreter(path, num_threads=1)
      interpreter.allocate_tensors()
  except (ValueError, RuntimeError) as error:
    raise errors.UserError(
      f"detector tflite:{path} is not a whole TFLite model ({error})"
    ) from None
  return interpreter


@contextlib.contextmanager
def _quiet():
  """Keeps the one line that the delegate writes off standard error."""
  saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
  try:
    os.dup2(null, 2)
    yield
  finally:
    os.dup2(saved, 2)
    os.close(saved)
    os.close(null)


def _outputs(details: Sequence[dict], path: str) -> tuple[int, int, int]:
  """Indices of boxes, classes and scores.

  Classes and scores have the same shape. Converters number outputs from the count up: `…:0` is the
  count, `…:1` the scores, `…:2` the classes, `…:3` the boxes; the post-processing operation names
  them boxes, classes, scores, count in this order.
  """
  boxes = [one for one in details if len(one["shape"]) == 3 and one["shape"][-1] == 4]
  rows = [one for one in details if len(one["shape"]) == 2]
  if len(boxes) != 1 or len(rows) != 2:
    shapes = [one["shape"].tolist() for one in details]
    raise errors.UserError(
      f"detector tflite:{path} has outputs {shapes}; expected boxes [1, N, 4], classes and "
      "scores [1, N] and a count, as the detection post-processing writes them"
    )
  # In both orders classes stand before scores in the file's list of outputs.
  return boxes[0]["index"], rows[0]["index"], rows[1]["index"]


def _label_map(path: str) -> list[str]:
  """The names in the file's metadata (a zip archive at its end); else COCO's 90."""
  try:
    with zipfile.ZipFile(path) as archive:
      texts = [name for name in archive.namelist() if name.endswith(".txt")]
      if texts:
        return archive.read(texts[0]).decode("utf-8").splitlines()
  except (zipfile.BadZipFile, UnicodeDecodeError):
    pass
  return base.coco_names(90)
