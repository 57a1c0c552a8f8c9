"""The boxes of several detectors together: `FIRST+SECOND`, such as `tflite:FILE+shipped`.

What the first ones are sure of comes first, in their order; then everything else by its score.
Of two boxes that overlap by more than 0.5 the later one is dropped.
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gcap_tf.vision import suppression
from gcap_tf.vision.detectors import base

SIGN = "+"
_SURE = 0.3  # A detector that was trained on few classes is rarely wrong above it.
_MOST = 200
_THRESHOLD = 0.5


class Union(base.Detector):
  """Asks each detector and joins what they found.

  Scores are moved so that their order is the order of the boxes: the sure boxes of the detectors
  before the last keep the upper half of the range, all others the lower half.
  """

  def __init__(self, source: str, detectors: Sequence[base.Detector]):
    super().__init__(source)
    self._detectors = detectors

  def detect(self, image: np.ndarray, image_id: str) -> base.Detections:
    found = [detector.detect(image, image_id) for detector in self._detectors]
    last = len(found) - 1
    scores = [
      np.where((one.scores >= _SURE) & (number < last), 0.5 + one.scores / 2, one.scores / 2)
      for number, one in enumerate(found)
    ]
    labels = [label for one in found for label in one.labels]
    boxes = np.concatenate([one.boxes for one in found])
    return distinct(base.detections(boxes, labels, np.concatenate(scores)))


def distinct(found: base.Detections) -> base.Detections:
  """Leaves out boxes that overlap a better one."""
  if not len(found.scores):
    return found
  count = min(_MOST, len(found.scores))
  rows, kept = suppression.suppress(
    tf.constant(found.boxes[None]), tf.constant(found.scores[None]), count, _THRESHOLD
  )
  chosen = rows.numpy()[0][kept.numpy()[0]]
  labels = tuple(found.labels[row] for row in chosen)
  return base.Detections(found.boxes[chosen], labels, found.scores[chosen])
