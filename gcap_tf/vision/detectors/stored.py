"""Detections that were written before, as COCO writes them: `detections:FILE`."""

from collections.abc import Sequence

import numpy as np

from gcap_tf import errors
from gcap_tf.data.stores import detection_files
from gcap_tf.vision.detectors import base


class StoredDetector(base.Detector):
  """Looks a picture's detections up; every score counts."""

  def __init__(self, path: str, names: Sequence[str] | None = None):
    super().__init__(f"detections:{path}")
    if names is not None:
      raise errors.UserError(f"detections:{path} has names of its own: leave the file of names out")
    self._store = detection_files.DetectionStore(path, min_score=0.0, warn_unsized=False)

  def detect(self, image: np.ndarray, image_id: str) -> base.Detections:
    """Boxes are in pixels of the size that the file states, or of the picture itself."""
    found = self._store.of_file(image_id)
    if found is None:
      raise errors.UserError(f"{self._store.path}: no detections of picture {image_id}")
    height, width = image.shape[:2]
    regions = self._store.get(found, width, height)
    if regions.scores is None:  # Nothing was detected: the store gives the whole picture.
      return base.detections(np.zeros((0, 4)), (), np.zeros(0))
    sides = np.array([width, height, width, height], np.float32)
    return base.detections(regions.boxes_px / sides, regions.labels, regions.scores)


@base.DETECTORS.register("detections")
def open_detections(path: str, names: Sequence[str] | None) -> StoredDetector:
  return StoredDetector(path, names)
