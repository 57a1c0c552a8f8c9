"""Views of a training photograph: as it is, mirrored, cut out, and shrunk.

A frozen backbone's maps are computed once, so what augments the data must be fixed for each
picture: a view is a window of the photograph and a share of the canvas that the window fills. Both
are a pure function of the picture's id and the number of the view.

    view 0      the photograph                    view 1          mirrored
    even views  a window of 55 to 90 % of each side, fills the canvas: things look larger
    odd views   the whole photograph on 55 to 90 % of the canvas: things look smaller

From view 2 on, views 2, 3, 6, 7, ... are as they are and views 4, 5, 8, 9, ... are mirrored.
"""

import dataclasses
import hashlib

import numpy as np

_LEAST, _MOST = 0.55, 0.9
_VISIBLE = 0.5  # A box of which less is inside the window is not learned.


@dataclasses.dataclass(frozen=True)
class View:
  """Attributes:
  window: x1, y1, x2, y2 from 0 to 1 of the photograph.
  share: of the canvas that the window fills along its longer side.
  mirrored: left and right are exchanged.
  """

  window: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
  share: float = 1.0
  mirrored: bool = False


def view(image_id: str, number: int) -> View:
  """View `number` of a picture."""
  if number < 2:
    return View(mirrored=number == 1)
  digest = hashlib.sha256(f"{image_id}/{number}".encode()).digest()
  rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
  share = float(rng.uniform(_LEAST, _MOST))
  mirrored = number // 2 % 2 == 0
  if number % 2:
    return View(share=share, mirrored=mirrored)
  x, y = rng.uniform(0, 1 - share, 2)
  return View((float(x), float(y), float(x + share), float(y + share)), 1.0, mirrored)


def boxes_in(boxes: np.ndarray, seen: View) -> tuple[np.ndarray, np.ndarray]:
  """Boxes [n, 4] of the photograph as boxes [n, 4] of the window, and which are visible [n]."""
  x1, y1, x2, y2 = seen.window
  low, sides = np.array([x1, y1, x1, y1]), np.array([x2 - x1, y2 - y1] * 2)
  moved = (boxes - low) / sides
  inside = np.clip(moved, 0, 1)
  visible = _area(inside) >= _VISIBLE * _area(moved)
  if seen.mirrored:
    inside = np.stack([1 - inside[:, 2], inside[:, 1], 1 - inside[:, 0], inside[:, 3]], 1)
  return inside.astype(np.float32), visible


def _area(boxes: np.ndarray) -> np.ndarray:
  return np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 0), 1)
