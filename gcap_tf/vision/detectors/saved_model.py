"""Detectors as SavedModels with the signature of the TF Object Detection API: `saved_model:DIR`.

input   uint8 [1, H, W, 3]
output  detection_boxes [1, N, 4] ymin, xmin, ymax, xmax from 0 to 1, detection_classes [1, N]
        from 1, detection_scores [1, N], num_detections [1]
"""

import pathlib
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import errors, saved_graphs
from gcap_tf.vision.detectors import base

_OUTPUTS = ("detection_boxes", "detection_classes", "detection_scores")


class SavedModelDetector(base.Detector):
  """Pictures go in as they are: the model resizes them itself."""

  def __init__(self, path: str, names: Sequence[str] | None = None):
    super().__init__(f"saved_model:{path}")
    self._model = _load(path)  # Owns the variables of the signature.
    self._call = self._model.signatures.get("serving_default")
    missing = set(_OUTPUTS) - set(self._call.structured_outputs if self._call else ())
    if missing:
      raise errors.UserError(
        f"detector saved_model:{path}: its serving_default lacks {', '.join(sorted(missing))}; "
        "expected the signature of the TF Object Detection API"
      )
    (self._input,) = self._call.structured_input_signature[1]
    self._dtype = self._call.structured_input_signature[1][self._input].dtype
    self._names = list(names) if names is not None else base.coco_names(90)

  def detect(self, image: np.ndarray, image_id: str) -> base.Detections:
    del image_id
    found = self._call(**{self._input: tf.cast(image[None], self._dtype)})
    boxes, classes, scores = (found[name].numpy()[0] for name in _OUTPUTS)
    count = len(scores)
    if "num_detections" in found:
      count = int(np.ravel(found["num_detections"].numpy())[0])
    labels = [self._name(int(number)) for number in classes[:count]]
    return base.detections(boxes[:count, [1, 0, 3, 2]], labels, scores[:count])

  def _name(self, number: int) -> str:
    """Classes count from 1."""
    return self._names[number - 1] if 1 <= number <= len(self._names) else ""


@base.DETECTORS.register("saved_model")
def open_saved_model(path: str, names: Sequence[str] | None) -> SavedModelDetector:
  return SavedModelDetector(path, names)


def _load(path: str):
  folder = pathlib.Path(path)
  if not (folder / "saved_model.pb").is_file():
    raise errors.UserError(f"detector saved_model:{path}: no saved_model.pb there")
  try:
    saved_graphs.check(folder)
    return tf.saved_model.load(str(folder))
  except (tf.errors.OpError, ValueError, OSError) as error:
    first = str(error).splitlines()[0]
    raise errors.UserError(f"detector saved_model:{path} does not load ({first})") from None
