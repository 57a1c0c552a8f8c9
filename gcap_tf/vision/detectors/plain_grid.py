"""`grid:N`: the same N boxes for every picture, without looking at it. What a detector must beat.

In this order: the whole picture; its middle (0.7 of each side); 3 x 3 windows of half the sides;
5 x 5 of a third; 8 x 8 of a quarter. So 36 boxes are the first 36 of 100.
"""

from collections.abc import Sequence

import numpy as np

from gcap_tf import errors
from gcap_tf.vision.detectors import base

_WINDOWS = ((1, 1.0), (1, 0.7), (3, 1 / 2), (5, 1 / 3), (8, 1 / 4))  # windows a side, their size


class PlainGrid(base.Detector):
  """Windows of fixed places and sizes."""

  def __init__(self, source: str, count: int):
    super().__init__(source)
    self._boxes = boxes()[:count]

  def detect(self, image: np.ndarray, image_id: str) -> base.Detections:
    del image, image_id
    scores = np.linspace(1.0, 0.5, len(self._boxes), dtype=np.float32)
    return base.Detections(self._boxes, ("",) * len(self._boxes), scores)


def boxes() -> np.ndarray:
  """[100, 4] windows from 0 to 1."""
  found = []
  for count, size in _WINDOWS:
    starts = np.linspace(0.0, 1.0 - size, count) if count > 1 else [(1.0 - size) / 2]
    found += [(x, y, x + size, y + size) for y in starts for x in starts]
  return np.array(found, np.float32)


@base.DETECTORS.register("grid")
def open_grid(what: str, names: Sequence[str] | None) -> PlainGrid:
  del names
  most = len(boxes())
  if not what.isdecimal() or not 1 <= int(what) <= most:
    raise errors.UserError(f"grid:{what}: write the number of boxes, from 1 to {most}")
  return PlainGrid(f"grid:{what}", int(what))
