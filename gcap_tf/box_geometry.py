"""Box arithmetic for readers, detectors and metrics; NumPy only.

Boxes are `[x1, y1, x2, y2]`: `boxes_px` in pixels, 0-based, `boxes_01` from 0 to 1.

`pfan_blocks` follows Position Focused Attention Network for Image-Text Matching
(Wang et al., IJCAI 2019, arXiv:1907.09748): a picture is split into 16 x 16 equal
blocks, a region is described by the 15 blocks which it covers most.
"""

from typing import Literal

import numpy as np

Merge = Literal["union", "first", "largest"]
PFAN_GRID = 16
PFAN_BLOCKS = 15
PFAN_PAD = PFAN_GRID * PFAN_GRID


def area(boxes: np.ndarray, plus_one: bool = False) -> np.ndarray:
  """Areas of boxes; those of empty or inverted boxes are 0.

  Args:
    boxes: [..., 4].
    plus_one: count pixels inclusively, w = x2 - x1 + 1, as the grounding evaluators do.

  Returns:
    [...] in the float type of `boxes`.
  """
  boxes = _floating(boxes)
  sides = boxes[..., 2:] - boxes[..., :2] + plus_one
  return np.prod(np.maximum(sides, 0), axis=-1)


def intersection(boxes_a: np.ndarray, boxes_b: np.ndarray, plus_one: bool = False) -> np.ndarray:
  """Shared area of every pair: [A, 4], [B, 4] -> [A, B]."""
  boxes_a, boxes_b = _rows(boxes_a), _rows(boxes_b)
  low = np.maximum(boxes_a[:, None, :2], boxes_b[None, :, :2])  # [A, B, 2]
  high = np.minimum(boxes_a[:, None, 2:], boxes_b[None, :, 2:])
  return np.prod(np.maximum(high - low + plus_one, 0), axis=-1)


def iou(boxes_a: np.ndarray, boxes_b: np.ndarray, plus_one: bool = False) -> np.ndarray:
  """Intersection over union of every pair; 0 if both boxes are empty.

      IoU(a, b) = |a and b| / (|a| + |b| - |a and b|)

  Args:
    boxes_a: [A, 4].
    boxes_b: [B, 4], in the same unit.
    plus_one: count pixels inclusively (only meaningful for boxes in pixels).

  Returns:
    [A, B] from 0 to 1.
  """
  shared = intersection(boxes_a, boxes_b, plus_one)
  total = area(_rows(boxes_a), plus_one)[:, None] + area(_rows(boxes_b), plus_one)[None] - shared
  return np.divide(shared, total, out=np.zeros_like(shared), where=total > 0)


def enclosing(boxes: np.ndarray) -> np.ndarray:
  """The smallest box around all boxes: [n, 4] -> [4], n at least 1."""
  boxes = _rows(boxes)
  if not len(boxes):
    raise ValueError("boxes is empty: there is nothing to enclose")
  return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])


def merged(boxes: np.ndarray, rule: Merge) -> np.ndarray:
  """One box for an entity of several: [n, 4] -> [4], n at least 1.

  Args:
    boxes: the entity's boxes, in the order of the dataset.
    rule: "union", the enclosing box; "first"; "largest" by area, the first of equals.
  """
  boxes = _rows(boxes)
  if rule == "union" or len(boxes) == 0:
    return enclosing(boxes)
  if rule == "first":
    return boxes[0]
  if rule == "largest":
    return boxes[np.argmax(area(boxes))]
  raise ValueError(f"unknown rule {rule!r} to merge boxes; choose union, first or largest")


def clip(boxes_px: np.ndarray, width: float, height: float) -> np.ndarray:
  """Boxes cut at the edges of a width x height picture, shape kept."""
  boxes_px = _floating(boxes_px)
  limits = np.array([width, height, width, height], boxes_px.dtype)
  return np.clip(boxes_px, 0, limits)


def normalise(boxes_px: np.ndarray, width: float, height: float) -> np.ndarray:
  """Boxes in pixels -> boxes from 0 to 1, shape kept; cut at the picture's edges."""
  if width <= 0 or height <= 0:
    raise ValueError(f"a picture of {width} x {height} pixels cannot normalise boxes")
  boxes_px = clip(boxes_px, width, height)
  return boxes_px / np.array([width, height, width, height], boxes_px.dtype)


def pfan_blocks(boxes_01: np.ndarray) -> np.ndarray:
  """Describes boxes by the blocks of a 16 x 16 grid which they overlap most.

  Block ids are `x_block * 16 + y_block`. Columns 0-14 of the result are block ids by
  overlap, descending, columns 15-29 their overlap areas divided by the row's sum.
  Unused columns have id 256 and weight 0.

  Departure: the released arrays break ties by an unstable sort, so a box that covers
  more than 15 whole blocks keeps an arbitrary 15 of them; here ties go by ascending id.

  Args:
    boxes_01: [R, 4] from 0 to 1.

  Returns:
    [R, 30] float32.
  """
  boxes_01 = np.clip(_rows(boxes_01).astype(np.float64), 0, 1)
  edges = np.arange(PFAN_GRID + 1) / PFAN_GRID
  overlap_x, overlap_y = (
    np.maximum(
      np.minimum(boxes_01[:, axis + 2, None], edges[1:])
      - np.maximum(boxes_01[:, axis, None], edges[:-1]),
      0,
    )
    for axis in (0, 1)
  )  # [R, 16] each
  areas = (overlap_x[:, :, None] * overlap_y[:, None, :]).reshape(len(boxes_01), -1)  # [R, 256]
  # Rounding makes blocks that are covered equally tie exactly, whatever the float error.
  order = np.argsort(-np.round(areas, 12), axis=1, kind="stable")[:, :PFAN_BLOCKS]
  weights = np.take_along_axis(areas, order, axis=1)
  ids = np.where(weights > 0, order, PFAN_PAD)
  total = weights.sum(axis=1, keepdims=True)
  weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
  return np.concatenate([ids, weights], axis=1).astype(np.float32)


def _floating(boxes: np.ndarray) -> np.ndarray:
  boxes = np.asarray(boxes)
  return boxes if np.issubdtype(boxes.dtype, np.floating) else boxes.astype(np.float32)


def _rows(boxes: np.ndarray) -> np.ndarray:
  return _floating(boxes).reshape(-1, 4)
