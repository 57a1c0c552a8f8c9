"""Backgrounds of drawn scenes: meadow, beach, street, room, snow.

A background is a full-size tile whose parts (sky, sea, beach, ...) are objects too: captions
name them, and their boxes come from their painted pixels.
"""

import dataclasses
import functools

import numpy as np
from PIL import Image

from gcap_tf.data.scenes import scene_pen

WIDTH, HEIGHT = 320, 240
VARIANTS = 6  # paintings of each place; a scene picks one


@dataclasses.dataclass(frozen=True)
class Place:
  """A place and how deep its ground is.

  Attributes:
    near, far: lowest and highest line (pixels) where feet can be.
    near_scale, far_scale: how large things are drawn on those lines.
    ground: the part that things stand on.
    outdoors: whether there is a sky.
  """

  name: str
  near: float
  far: float
  near_scale: float
  far_scale: float
  ground: str
  outdoors: bool = True

  def scale_at(self, y: float) -> float:
    t = (y - self.far) / (self.near - self.far)
    return self.far_scale + t * (self.near_scale - self.far_scale)


PLACES: dict[str, Place] = {
  "meadow": Place("meadow", 234, 144, 1.36, 0.74, "field"),
  "beach": Place("beach", 234, 154, 1.36, 0.82, "beach"),
  "street": Place("street", 234, 150, 1.32, 0.82, "street"),
  "room": Place("room", 234, 178, 1.36, 1.05, "floor", outdoors=False),
  "snow": Place("snow", 234, 144, 1.36, 0.74, "snow"),
}


@functools.cache
def paint(name: str, variant: int) -> scene_pen.Pen:
  """Paints a place; the same (name, variant) is painted once per process."""
  pen = scene_pen.Pen(WIDTH, HEIGHT)
  rng = np.random.Generator(np.random.PCG64([len(name), ord(name[0]), variant]))
  _PAINTERS[name](pen, rng)
  return pen


@functools.cache
def tile(name: str, variant: int) -> tuple[Image.Image, np.ndarray]:
  """A painted place in colour (RGB) and its part numbers; copy before writing into them."""
  colors, numbers = paint(name, variant).finish()
  return colors.convert("RGB"), numbers


def _gradient(
  pen: scene_pen.Pen, top: float, bottom: float, first: scene_pen.Color, last: scene_pen.Color
) -> None:
  rows = int(bottom - top)
  for row in range(rows):
    t = row / max(1, rows - 1)
    color = tuple(round(a + t * (b - a)) for a, b in zip(first, last, strict=True))
    pen.slab(0, top + row, WIDTH, top + row + 1, color)


def _sky(
  pen: scene_pen.Pen,
  rng: np.random.Generator,
  bottom: float,
  high: scene_pen.Color,
  low: scene_pen.Color,
) -> None:
  with pen.part("sky"):
    _gradient(pen, 0, bottom, high, low)
    for _ in range(rng.integers(2, 5)):
      x, y, r = rng.uniform(10, 310), rng.uniform(14, 56), rng.uniform(7, 13)
      white = tuple(round(0.75 * 255 + 0.25 * c) for c in low)
      pen.ellipse(x, y, r * 2.2, r * 0.62, white)
      pen.ellipse(x - r * 0.7, y - r * 0.4, r * 0.9, r * 0.8, white)
      pen.ellipse(x + r * 0.5, y - r * 0.55, r * 1.1, r * 0.95, white)


def _ridge(rng: np.random.Generator, base: float, height: float, knots: int = 7):
  """A rolling line of hills above `base`, closed below it."""
  xs = np.linspace(-20, WIDTH + 20, knots)
  points = [(float(x), base - float(rng.uniform(0.25, 1)) * height) for x in xs]
  return (
    *scene_pen.curve(tuple(points), closed=False),
    (WIDTH + 20.0, base + 4),
    (-20.0, base + 4),
  )


def _meadow(pen: scene_pen.Pen, rng: np.random.Generator) -> None:
  _sky(pen, rng, 130, (108, 176, 232), (214, 236, 248))
  with pen.part("hill"):
    pen.polygon(_ridge(rng, 128, 40), (138, 180, 138))
    pen.polygon(_ridge(rng, 129, 22), (122, 172, 108))
  with pen.part("field"):
    _gradient(pen, 126, HEIGHT, (142, 192, 92), (92, 156, 62))
    for _ in range(70):
      y = rng.uniform(132, 236)
      x, h = rng.uniform(0, WIDTH), 2 + 4 * (y - 126) / 114
      tone = (80, 142, 56) if rng.random() < 0.6 else (160, 206, 104)
      pen.stroke(((x, y), (x + rng.uniform(-1.5, 1.5), y - h)), 1.0, tone)


def _beach(pen: scene_pen.Pen, rng: np.random.Generator) -> None:
  _sky(pen, rng, 100, (92, 178, 236), (222, 242, 250))
  with pen.part("sea"):
    _gradient(pen, 96, 146, (44, 128, 178), (96, 190, 206))
    for _ in range(26):
      y = rng.uniform(101, 134)
      x, w = rng.uniform(0, WIDTH), rng.uniform(5, 18) * (y - 80) / 50
      pen.stroke(((x, y), (x + w, y)), 0.9, (150, 214, 226))
  shore = [(x, 139 + float(rng.uniform(-3, 3))) for x in np.linspace(-10, WIDTH + 10, 8)]
  foam = scene_pen.curve(tuple((x, y - 2.5) for x, y in shore), closed=False)
  with pen.part("sea"):
    pen.polygon((*foam, (WIDTH + 10.0, 160.0), (-10.0, 160.0)), (236, 248, 250))
  with pen.part("beach"):
    pen.polygon(
      (*scene_pen.curve(tuple(shore), closed=False), (WIDTH + 10.0, HEIGHT), (-10.0, HEIGHT)),
      (238, 214, 160),
    )
    _gradient(pen, 150, HEIGHT, (238, 214, 160), (222, 188, 126))
    for _ in range(60):
      x, y = rng.uniform(0, WIDTH), rng.uniform(146, 238)
      pen.ellipse(x, y, 1.3, 0.6, (206, 170, 108) if rng.random() < 0.7 else (250, 234, 196))


def _street(pen: scene_pen.Pen, rng: np.random.Generator) -> None:
  _sky(pen, rng, 134, (146, 188, 224), (232, 238, 240))
  with pen.part("building"):
    x = -8.0
    while x < WIDTH:
      w, top = float(rng.uniform(28, 56)), float(rng.uniform(34, 88))
      wall = scene_pen.shade(((196, 182, 168), (176, 184, 196), (206, 172, 150), (168, 160, 172))[
        rng.integers(4)], float(rng.uniform(0.88, 1.05)))  # fmt: skip
      pen.slab(x, top, x + w, 134, wall)
      pen.slab(x, top, x + w, top + 3, scene_pen.shade(wall, 0.8))
      glass = scene_pen.shade(wall, 0.72)
      for wx in np.arange(x + 5, x + w - 8, 11):
        for wy in np.arange(top + 9, 120, 15):
          pen.slab(wx, wy, wx + 6, wy + 8, (240, 218, 150) if rng.random() < 0.15 else glass)
      x += w
  with pen.part("sidewalk"):
    _gradient(pen, 132, 162, (200, 196, 190), (186, 182, 176))
    for x in range(-20, WIDTH, 40):
      pen.stroke(((x + 26, 132), (x, 162)), 0.8, (166, 162, 156))
    pen.slab(0, 159, WIDTH, 163, (152, 150, 148))
  with pen.part("street"):
    _gradient(pen, 163, HEIGHT, (112, 114, 120), (92, 94, 100))
    for x in range(int(rng.integers(-30, 0)), WIDTH, 64):
      pen.polygon(((x + 5, 198), (x + 37, 198), (x + 34, 203), (x, 203)), (226, 222, 206))


def _room(pen: scene_pen.Pen, rng: np.random.Generator) -> None:
  wall = ((222, 208, 188), (196, 212, 208), (214, 198, 206), (204, 208, 224))[rng.integers(4)]
  with pen.part("wall"):
    _gradient(pen, 0, 166, scene_pen.shade(wall, 1.2), wall)
    for x in range(8, WIDTH, 24):
      pen.stroke(((x, 0), (x, 160)), 0.7, scene_pen.shade(wall, 0.96))
  left = float(rng.uniform(24, 80))
  with pen.part("window"):
    pen.slab(left - 4, 26, left + 66, 102, (250, 248, 244), 2)
    for x in (left, left + 33):
      pen.slab(x, 30, x + 29, 98, (170, 212, 240))
      pen.polygon(((x, 98), (x, 82), (x + 14, 74), (x + 29, 84), (x + 29, 98)), (128, 180, 118))
    pen.slab(left - 8, 100, left + 70, 105, (236, 230, 222), 1)
  x = float(rng.uniform(190, 240))
  with pen.part("picture"):
    pen.slab(x, 36, x + 56, 78, (120, 84, 54))
    pen.slab(x + 4, 40, x + 52, 74, (246, 232, 204))
    pen.polygon(
      ((x + 4, 74), (x + 20, 50), (x + 32, 64), (x + 42, 54), (x + 52, 74)), (110, 140, 170)
    )
    pen.ellipse(x + 42, 48, 4, 4, (238, 150, 80))
  pen.slab(0, 160, WIDTH, 167, (246, 242, 236))
  with pen.part("floor"):
    _gradient(pen, 167, HEIGHT, (186, 140, 96), (162, 114, 72))
    for k, y in enumerate((176, 189, 206, 226)):
      pen.stroke(((0, y), (WIDTH, y)), 0.8, (142, 98, 62))
      for x in range(30 * (k % 2), WIDTH, 70 + 10 * k):
        pen.stroke(((x, y), (x - 4, y + 10)), 0.7, (142, 98, 62))
  rug = ((172, 70, 70), (70, 104, 150), (96, 136, 108))[rng.integers(3)]
  with pen.part("rug"):
    middle = float(rng.uniform(130, 190))
    pen.ellipse(middle, 214, 92, 21, scene_pen.shade(rug, 0.85))
    pen.ellipse(middle, 213, 84, 17.5, rug)
    pen.ellipse(middle, 213, 62, 12, scene_pen.shade(rug, 1.25))


def _snow(pen: scene_pen.Pen, rng: np.random.Generator) -> None:
  _sky(pen, rng, 145, (150, 186, 220), (226, 236, 246))
  with pen.part("mountain"):
    for _ in range(4):
      x, h, w = rng.uniform(0, WIDTH), rng.uniform(44, 84), rng.uniform(50, 90)
      top = 130 - h
      pen.polygon(((x - w, 131), (x, top), (x + w, 131)), (142, 160, 186))
      pen.polygon(((x, top), (x + w, 131), (x + w * 0.2, 131)), (122, 140, 168))
      pen.polygon(
        (
          (x, top),
          (x + w * 0.3, top + h * 0.3),
          (x + w * 0.1, top + h * 0.24),
          (x - w * 0.06, top + h * 0.36),
          (x - w * 0.3, top + h * 0.3),
        ),
        (246, 250, 254),
      )
  with pen.part("snow"):
    pen.polygon(_ridge(rng, 140, 16), (232, 240, 248))
    _gradient(pen, 138, HEIGHT, (238, 244, 250), (208, 222, 238))
    for _ in range(24):
      x, y = rng.uniform(0, WIDTH), rng.uniform(146, 236)
      pen.ellipse(x, y, rng.uniform(8, 26), 1.3, (196, 212, 232))


_PAINTERS = {"meadow": _meadow, "beach": _beach, "street": _street, "room": _room, "snow": _snow}
