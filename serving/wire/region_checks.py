"""Checks of boxes and labels, the same in client and server.

Each check returns None, or one sentence: what is wrong, where, and how to put it right. A model
would answer wrong boxes with a wrong caption, and nobody would see why.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

MARGIN = 1e-3  # rounding of a box that touches the edge
# How inputs nest, for refusals of a shape.
NESTING = {
  "boxes": "one list of boxes [x1, y1, x2, y2] per picture",
  "labels": 'one list of strings per picture, such as [["dog", "man"]]',
}
_PIXELS_FROM = 2.0  # a larger coordinate is a pixel, not a box a little out of the picture


def box_problem(boxes: np.ndarray, counts: Sequence[int] | np.ndarray) -> str | None:
  """Returns what is wrong with boxes [B, R, 4], of which the first `counts[b]` rows are real."""
  if not boxes.size:
    return None
  real = np.arange(boxes.shape[1])[np.newaxis] < np.asarray(counts)[:, np.newaxis]  # [B, R]
  outside = ~((boxes >= -MARGIN) & (boxes <= 1 + MARGIN)).all(-1)  # NaN is outside, too
  inverted = (boxes[..., 0] > boxes[..., 2] + MARGIN) | (boxes[..., 1] > boxes[..., 3] + MARGIN)
  for is_wrong, describe in ((outside, _outside), (inverted, _inverted)):
    is_wrong &= real
    if is_wrong.any():
      row, region = np.argwhere(is_wrong)[0].tolist()
      largest = float(np.nanmax(np.where(real[..., np.newaxis], boxes, 0.0)))
      return f"box {region} of picture {row} is {describe(boxes[row, region], largest)}"
  return None


def box_shape_problem(boxes: Any) -> str | None:
  """Returns what is wrong with the nesting of boxes: they are one list [R, 4] per picture."""
  for row, rows in enumerate(boxes):
    shape = np.shape(rows)
    if len(shape) == 2 and shape[1] == 4:
      continue
    if len(shape) and shape[0] == 0:  # a picture without regions
      continue
    if shape == (4,) or shape == ():
      return "boxes must be one list per picture; for one picture send [boxes], not boxes"
    return f"boxes of picture {row} have shape {list(shape)}; expected [regions, 4]"
  return None


def label_problem(labels: Any, counts: Sequence[int]) -> str | None:
  """Returns what is wrong with labels: they are one list of strings per picture."""
  advice = f"labels must be {NESTING['labels']}"
  if isinstance(labels, (str, bytes)):
    return f"{advice}; got the string {labels!r}"
  for row, names in enumerate(labels):
    if isinstance(names, (str, bytes)):
      return f"{advice}; got a list of strings: for one picture send [labels], not labels"
    for name in names:
      if not isinstance(name, (str, bytes)):
        return f"{advice}; picture {row} has a {type(name).__name__} among its labels"
  if len(labels) != len(counts):
    return f"there are boxes of {len(counts)} pictures and labels of {len(labels)}"
  for row, (names, count) in enumerate(zip(labels, counts, strict=True)):
    if len(names) != count:
      return (
        f"picture {row} has {count} boxes and {len(names)} labels; "
        'send one label per box, "" if it is unknown'
      )
  return None


def _outside(box: np.ndarray, largest: float) -> str:
  if not np.isfinite(box).all():
    return f"{_show(box)}: boxes must be finite numbers"
  if largest >= _PIXELS_FROM:
    return (
      f"in pixels {_show(box)}: divide x by the picture's width and y by its height, "
      "so that boxes go from 0 to 1"
    )
  return f"outside the picture {_show(box)}: boxes go from 0 to 1; clip them to the picture"


def _inverted(box: np.ndarray, largest: float) -> str:
  del largest
  return (
    f"inverted {_show(box)}: boxes are x1, y1, x2, y2 with x1 <= x2 and y1 <= y2, "
    "not x, y, width, height"
  )


def _show(box: np.ndarray) -> str:
  return "[" + ", ".join(f"{x:.6g}" for x in box.tolist()) + "]"
