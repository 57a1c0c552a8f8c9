"""Detectors of KerasHub: `keras_hub:PRESET` (RetinaNet, D-FINE, ...; a name or a local folder)."""

from collections.abc import Sequence

import keras
import numpy as np

from gcap_tf import errors
from gcap_tf.vision.detectors import base

_DEFAULT_SIDE = 640


class KerasHubDetector(base.Detector):
  """Any `keras_hub.models.ObjectDetector`.

  KerasHub's presets bring no names of classes: detectors of 80, 90 or 91 classes have COCO's,
  others need a file of names, else their boxes carry no labels.
  """

  def __init__(self, preset: str, names: Sequence[str] | None = None):
    super().__init__(f"keras_hub:{preset}")
    self._model = _load(preset)
    size = getattr(self._model.preprocessor, "image_size", None) or self._model.input_shape[1:3]
    self._side = int(max(size)) if all(size) else _DEFAULT_SIDE
    known = base.coco_names(int(self._model.num_classes))
    self._names = list(names) if names is not None else known or []

  def detect(self, image: np.ndarray, image_id: str) -> base.Detections:
    del image_id
    placed, content = base.on_canvas(image, self._side)
    found = self._model.predict(placed, verbose=0)
    boxes = keras.utils.bounding_boxes.convert_format(
      found["boxes"],
      source=self._model.bounding_box_format,
      target="rel_xyxy",
      height=self._side,
      width=self._side,
    )
    count = int(np.ravel(found["num_detections"])[0])
    labels = [self._name(int(number)) for number in np.asarray(found["labels"])[0, :count]]
    boxes = base.of_picture(np.asarray(boxes)[0, :count], content)
    return base.detections(boxes, labels, np.asarray(found["confidence"])[0, :count])

  def _name(self, number: int) -> str:
    return self._names[number] if 0 <= number < len(self._names) else ""


@base.DETECTORS.register("keras_hub")
def open_keras_hub(preset: str, names: Sequence[str] | None) -> KerasHubDetector:
  return KerasHubDetector(preset, names)


def _load(preset: str) -> keras.Model:
  try:
    import keras_hub
  except ImportError as error:
    raise errors.UserError(
      f"KerasHub is not installed ({error}); run `pip install 'keras-hub>=0.32'`"
    ) from None
  try:
    return keras_hub.models.ObjectDetector.from_preset(preset)
  except Exception as error:  # Hubs raise their own kinds, without a common base.
    first = (str(error).splitlines() or [type(error).__name__])[0]
    raise errors.UserError(f"detector keras_hub:{preset} does not load ({first})") from None
