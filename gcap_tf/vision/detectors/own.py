"""Our detector as one among others: boxes, its best label of each, scores."""

from typing import Protocol

import numpy as np
import tensorflow as tf

from gcap_tf.vision import detector as detectors
from gcap_tf.vision.detectors import base

_REGIONS = 100


class DetectorRun(Protocol):
  """Our detector as a run folder has it (`runs.detector_runs.DetectorRun`)."""

  detector: detectors.Detector
  labels: tuple[str, ...]
  colours: tuple[str, ...]


class OwnDetector(base.Detector):
  """A run of our detector."""

  def __init__(self, source: str, run: DetectorRun):
    super().__init__(source)
    self._run = run
    self._look = tf.function(self._find, reduce_retracing=True)

  def detect(self, image: np.ndarray, image_id: str) -> base.Detections:
    del image_id
    placed, content = base.on_canvas(image, self._run.detector.config.size)
    boxes, scores, labels = self._look(tf.constant(placed), tf.constant(content[None]))
    names = [self._run.labels[column] for column in labels[0].numpy()]
    # The order of our detector prefers what is not covered yet, so it is not that of the scores.
    return base.detections(boxes[0].numpy(), names, scores[0].numpy(), ordered=True)

  def _find(self, placed: tf.Tensor, content: tf.Tensor) -> tuple[tf.Tensor, ...]:
    found = self._run.detector.detect(placed, content, _REGIONS)
    return found["boxes"], found["scores"], tf.argmax(found["label_probs"], -1)
