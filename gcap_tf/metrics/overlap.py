"""Overlap of a predicted box with its reference, as the grounding evaluators compute it.

The evaluators of GVD and POS-SCAN count pixels inclusively (a box from 3 to 3 is one pixel
wide) and treat one-pixel boxes specially; everything else uses `box_geometry`.
"""

import numpy as np


def pixel_iou(predicted: np.ndarray, reference: np.ndarray) -> np.ndarray:
  """IoU of boxes that include their last pixel: width = x2 - x1 + 1.

      IoU = w h / (A_predicted + A_reference - w h)

  A reference box of one pixel scores 0, a predicted box of one pixel -1, as in the
  official evaluators. Computed in float32 like theirs, so that no box on the
  threshold falls on the other side.

  Args:
    predicted: [..., 4] x1, y1, x2, y2 in pixels.
    reference: [..., 4], broadcast against `predicted`.

  Returns:
    [...] float32.
  """
  predicted = np.asarray(predicted, np.float32)
  reference = np.asarray(reference, np.float32)
  one = np.float32(1)
  predicted_size = predicted[..., 2:] - predicted[..., :2] + one
  reference_size = reference[..., 2:] - reference[..., :2] + one
  corner = np.minimum(predicted[..., 2:], reference[..., 2:])
  shared = np.maximum(corner - np.maximum(predicted[..., :2], reference[..., :2]) + one, 0)
  intersection = shared[..., 0] * shared[..., 1]
  predicted_area = predicted_size[..., 0] * predicted_size[..., 1]
  reference_area = reference_size[..., 0] * reference_size[..., 1]
  with np.errstate(divide="ignore", invalid="ignore"):
    overlap = intersection / (predicted_area + reference_area - intersection)
  overlap = np.where((reference_size == 1).all(-1), np.float32(0), overlap)
  return np.where((predicted_size == 1).all(-1), np.float32(-1), overlap)


def inside(inner: np.ndarray, outer: np.ndarray, tolerance: float = 1.0) -> np.ndarray:
  """Whether `inner` lies in `outer`, no edge more than `tolerance` pixels out: [...] bool."""
  inner, outer = np.asarray(inner, np.float32), np.asarray(outer, np.float32)
  starts = inner[..., :2] >= outer[..., :2] - tolerance
  ends = inner[..., 2:] <= outer[..., 2:] + tolerance
  return (starts & ends).all(-1)
