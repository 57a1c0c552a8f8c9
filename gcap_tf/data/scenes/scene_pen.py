"""A pen that paints one object with smooth edges and remembers which pixels it touched.

Painters write in design units (pixels of the picture at scale 1), x to the right, y down.
The pen draws several times too large and shrinks the result. Besides the colours it paints
a map of parts, so that boxes come from painted pixels and not from guesses about shapes.
"""

import contextlib
import functools
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image, ImageDraw

Color = tuple[int, int, int]
Point = tuple[float, float]

OVERSAMPLING = 3
BODY = 1  # the part number of what belongs to no named part

COLORS: dict[str, Color] = {
  "red": (206, 46, 46),
  "blue": (45, 98, 190),
  "green": (62, 148, 76),
  "yellow": (246, 203, 61),
  "orange": (238, 128, 44),
  "purple": (129, 78, 168),
  "pink": (236, 130, 168),
  "brown": (132, 86, 52),
  "black": (48, 47, 54),
  "white": (244, 243, 239),
  "gray": (142, 146, 154),
  "tan": (214, 175, 122),
}
GLASS: Color = (174, 214, 236)
STEEL: Color = (120, 126, 136)
WOOD: Color = (150, 102, 62)
RUBBER: Color = (46, 46, 52)


def shade(color: Color, factor: float) -> Color:
  """Darkens (factor < 1) or lightens towards white (factor > 1)."""
  if factor <= 1:
    return tuple(round(c * factor) for c in color)
  return tuple(round(255 - (255 - c) * (2 - factor)) for c in color)


@functools.lru_cache(maxsize=4096)
def curve(points: tuple[Point, ...], closed: bool = True, steps: int = 6) -> tuple[Point, ...]:
  """A smooth line through `points` (Catmull-Rom)."""
  knots = np.asarray(points, np.float64)
  if closed:
    knots = np.concatenate([knots[-1:], knots, knots[:2]])
  else:
    knots = np.concatenate([knots[:1], knots, knots[-1:]])
  t = np.linspace(0, 1, steps, endpoint=False)[:, None]
  pieces = []
  for a, b, c, d in zip(knots, knots[1:], knots[2:], knots[3:], strict=False):
    pieces.append(
      0.5
      * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
    )
  if not closed:
    pieces.append(knots[-1:])
  return tuple(map(tuple, np.concatenate(pieces)))


class Pen:
  """Paints one object on a transparent tile of `width` x `height` design units.

  `margin` units of room lie above y = 0, for what sticks out (a hat).

  Attributes:
    parts: names of the parts painted so far; part number is index + 2 (1 is the body).
    anchors: points where other objects attach ("hand", "seat"), in design units from the
      tile's corner, after mirroring.
  """

  def __init__(
    self,
    width: float,
    height: float,
    scale: float = 1.0,
    mirrored: bool = False,
    margin: float = 0.0,
  ):
    self.width, self.scale, self.mirrored, self.margin = width, scale, mirrored, margin
    self.height = height + margin
    self.columns = max(1, round(self.width * scale))
    self.rows = max(1, round(self.height * scale))
    large = (self.columns * OVERSAMPLING, self.rows * OVERSAMPLING)
    self._colors = Image.new("RGBA", large)
    self._numbers = Image.new("L", large)
    self._draws = (ImageDraw.Draw(self._colors), ImageDraw.Draw(self._numbers))
    self._number = BODY
    self.parts: list[str] = []
    self.anchors: dict[str, Point] = {}

  @contextlib.contextmanager
  def part(self, name: str, another: bool = False) -> Iterator[None]:
    """What is painted inside the block belongs to the part `name`.

    With `another` it is one more part of that name (the second wheel).
    """
    if another or name not in self.parts:
      self.parts.append(name)
    last = len(self.parts) - 1 - self.parts[::-1].index(name)
    outer, self._number = self._number, last + 2
    yield
    self._number = outer

  def anchor(self, name: str, x: float, y: float) -> None:
    self.anchors[name] = (self.width - x if self.mirrored else x, y + self.margin)

  def polygon(self, points: Sequence[Point], color: Color) -> None:
    flat = [self._map(x, y) for x, y in points]
    self._draws[0].polygon(flat, fill=(*color, 255))
    self._draws[1].polygon(flat, fill=self._number)

  def blob(self, points: Sequence[Point], color: Color) -> None:
    """A smooth closed shape through `points`."""
    self.polygon(curve(tuple(points)), color)

  def ellipse(self, x: float, y: float, rx: float, ry: float, color: Color) -> None:
    """An ellipse around the centre (x, y)."""
    box = self._box(x - rx, y - ry, x + rx, y + ry)
    self._draws[0].ellipse(box, fill=(*color, 255))
    self._draws[1].ellipse(box, fill=self._number)

  def ring(self, x: float, y: float, r: float, thick: float, color: Color) -> None:
    box = self._box(x - r, y - r, x + r, y + r)
    thick = max(1, round(thick * self.scale * OVERSAMPLING))
    self._draws[0].ellipse(box, outline=(*color, 255), width=thick)
    self._draws[1].ellipse(box, outline=self._number, width=thick)

  def slab(
    self, x1: float, y1: float, x2: float, y2: float, color: Color, radius: float = 0
  ) -> None:
    """A rectangle, with round corners if `radius` is above 0."""
    box = self._box(x1, y1, x2, y2)
    radius *= self.scale * OVERSAMPLING
    for draw, ink in zip(self._draws, ((*color, 255), self._number), strict=True):
      if radius:
        draw.rounded_rectangle(box, radius, fill=ink)
      else:
        draw.rectangle(box, fill=ink)

  def stroke(self, points: Sequence[Point], thick: float, color: Color) -> None:
    """A thick line with round ends and joints."""
    flat = [self._map(x, y) for x, y in points]
    wide = thick * self.scale * OVERSAMPLING
    for draw, ink in zip(self._draws, ((*color, 255), self._number), strict=True):
      draw.line(flat, fill=ink, width=max(1, round(wide)))
      if wide >= 4:
        for x, y in flat:
          draw.ellipse((x - wide / 2, y - wide / 2, x + wide / 2, y + wide / 2), fill=ink)

  def pie(
    self, x: float, y: float, rx: float, ry: float, start: float, end: float, color: Color
  ) -> None:
    """A slice of an ellipse, degrees clockwise from the right (before mirroring)."""
    if self.mirrored:
      start, end = 180 - end, 180 - start
    box = self._box(x - rx, y - ry, x + rx, y + ry)
    self._draws[0].pieslice(box, start, end, fill=(*color, 255))
    self._draws[1].pieslice(box, start, end, fill=self._number)

  def finish(self) -> tuple[Image.Image, np.ndarray]:
    """The tile in picture pixels (RGBA) and its part numbers [rows, columns], 0 outside."""
    middle = OVERSAMPLING // 2
    numbers = np.asarray(self._numbers)[middle::OVERSAMPLING, middle::OVERSAMPLING]
    return self._colors.reduce(OVERSAMPLING), numbers

  def _map(self, x: float, y: float) -> Point:
    zoom = self.scale * OVERSAMPLING
    return ((self.width - x if self.mirrored else x) * zoom, (y + self.margin) * zoom)

  def _box(self, x1: float, y1: float, x2: float, y2: float) -> tuple[float, ...]:
    (ax, ay), (bx, by) = self._map(x1, y1), self._map(x2, y2)
    return (min(ax, bx), ay, max(ax, bx), by)
