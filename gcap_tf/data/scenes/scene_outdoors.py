"""Buildings and what stands outdoors in drawn scenes: a house, trees, a snowman, the sun."""

import math

from gcap_tf.data.scenes import scene_pen


def paint_house(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(112, 108, scale, mirrored)
  pen.slab(80, 10, 92, 40, (164, 92, 76))
  pen.slab(12, 46, 100, 107, color)
  pen.slab(84, 46, 100, 107, scene_pen.shade(color, 0.9))
  with pen.part("roof"):
    pen.polygon(((2, 50), (56, 6), (110, 50)), accent)
    pen.polygon(((56, 6), (110, 50), (92, 50)), scene_pen.shade(accent, 0.86))
    pen.stroke(((3, 49.5), (109, 49.5)), 3, scene_pen.shade(accent, 0.72))
  with pen.part("door"):
    pen.slab(46, 70, 66, 107, scene_pen.WOOD, 2)
    pen.slab(49, 74, 63, 86, scene_pen.shade(scene_pen.WOOD, 0.82), 1)
    pen.ellipse(62, 91, 1.7, 1.7, scene_pen.COLORS["yellow"])
  for x in (22, 74):
    with pen.part("window", another=True):
      pen.slab(x - 1.5, 63, x + 18.5, 85, scene_pen.COLORS["white"])
      pen.slab(x, 64.5, x + 17, 83.5, scene_pen.GLASS)
      pen.stroke(((x + 8.5, 64), (x + 8.5, 84)), 1.3, scene_pen.COLORS["white"])
      pen.stroke(((x, 74), (x + 17, 74)), 1.3, scene_pen.COLORS["white"])
  return pen


def paint_tree(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(84, 122, scale, mirrored)
  with pen.part("trunk"):
    pen.polygon(((36, 60), (48, 60), (49, 108), (55, 121), (30, 121), (36, 108)), scene_pen.WOOD)
    pen.polygon(
      ((44, 60), (48, 60), (49, 108), (55, 121), (46, 121)), scene_pen.shade(scene_pen.WOOD, 0.8)
    )
  for x, y, r, tone in (
    (24, 54, 21, 0.8), (60, 54, 21, 0.8), (42, 60, 22, 0.86), (28, 34, 23, 0.94), (57, 34, 22, 0.9),
    (42, 22, 20, 1.0), (35, 42, 21, 1.06),
  ):  # fmt: skip
    pen.ellipse(x, y, r, r * 0.95, scene_pen.shade(color, tone))
  for x, y in ((30, 26), (50, 36), (24, 48), (44, 56), (60, 48)):
    pen.ellipse(x, y, 4.5, 3.6, scene_pen.shade(color, 1.18))
  return pen


def paint_pine(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  """A tree for the snow."""
  pen = scene_pen.Pen(84, 122, scale, mirrored)
  with pen.part("trunk"):
    pen.slab(37, 96, 47, 121, scene_pen.shade(scene_pen.WOOD, 0.85))
  green, snow = (52, 112, 84), (240, 245, 250)
  for top, bottom, half in ((46, 104, 36), (24, 76, 29), (3, 48, 21)):
    pen.polygon(((42, top), (42 + half, bottom), (42 - half, bottom)), green)
    pen.polygon(
      ((42, top), (42 + half, bottom), (42 + half * 0.4, bottom)), scene_pen.shade(green, 0.84)
    )
    cap = top + (bottom - top) * 0.38
    pen.polygon(((42, top), (42 + half * 0.42, cap), (42 + half * 0.1, cap - 4),
                 (42 - half * 0.15, cap + 2), (42 - half * 0.42, cap)), snow)  # fmt: skip
  return pen


def paint_flower(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(28, 42, scale, mirrored)
  green = (72, 140, 66)
  pen.stroke(scene_pen.curve(((14, 13), (15, 26), (13, 41)), closed=False), 2.0, green)
  pen.blob(((14, 34), (5, 31), (2, 24), (9, 26)), green)
  pen.blob(((14, 31), (22, 28), (26, 21), (19, 23)), scene_pen.shade(green, 0.85))
  with pen.part("petal"):
    for k in range(6):
      angle = k * math.pi / 3
      pen.ellipse(
        14 + 6.2 * math.cos(angle),
        12.5 + 6.2 * math.sin(angle),
        5.3,
        5.3,
        scene_pen.shade(color, 1.0 if k % 2 else 0.88),
      )
  pen.ellipse(
    14,
    12.5,
    4.2,
    4.2,
    scene_pen.COLORS["yellow"] if color != scene_pen.COLORS["yellow"] else scene_pen.WOOD,
  )
  return pen


def paint_sun(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(52, 52, scale, mirrored)
  warm = (255, 205, 70)
  for k in range(12):
    a = k * math.pi / 6
    points = [(26 + r * math.cos(a + d), 26 + r * math.sin(a + d))
              for r, d in ((17.5, -0.14), (25, 0), (17.5, 0.14))]  # fmt: skip
    pen.polygon(points, (255, 190, 60))
  pen.ellipse(26, 26, 15, 15, warm)
  pen.ellipse(24.5, 24.5, 12, 12, scene_pen.shade(warm, 1.3))
  return pen


def paint_snowman(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(66, 88, scale, mirrored)
  snow, dim = (248, 250, 253), (214, 224, 236)
  for side in (-1, 1):
    pen.stroke(((33 + side * 12, 40), (33 + side * 30, 30)), 1.8, scene_pen.WOOD)
  for y, r in ((68, 19), (42, 14.5)):
    pen.ellipse(33, y, r, r, dim)
    pen.ellipse(31.6, y - 1, r - 1.8, r - 1.4, snow)
  for y in (38, 45):
    pen.ellipse(35, y, 1.6, 1.6, scene_pen.RUBBER)
  with pen.part("head"):
    pen.ellipse(33, 21, 10.8, 10.8, dim)
    pen.ellipse(32, 20.4, 9.6, 9.7, snow)
    for x in (32, 38.5):
      pen.ellipse(x, 18.6, 1.3, 1.5, scene_pen.RUBBER)
    pen.polygon(((35, 21), (46, 23.5), (35, 24.5)), scene_pen.COLORS["orange"])
  with pen.part("scarf"):
    pen.slab(23.5, 28.5, 42.5, 33, color, 2)
    pen.slab(38, 30, 43, 43, scene_pen.shade(color, 0.85), 1.5)
  with pen.part("hat"):
    pen.slab(25.5, 0.5, 40.5, 11, scene_pen.RUBBER, 1)
    pen.slab(25.5, 7.5, 40.5, 10, color)
    pen.slab(20, 10, 46, 13, scene_pen.RUBBER, 1.4)
  return pen


def paint_castle(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  """A sandcastle."""
  pen = scene_pen.Pen(64, 52, scale, mirrored)
  sand = (214, 172, 104)
  pen.slab(10, 26, 54, 51, sand)
  for x, top in ((4, 16), (46, 16), (24, 8)):
    pen.slab(x, top + 6, x + 16, 51, scene_pen.shade(sand, 1.1 if x != 24 else 1.18))
    for k in range(3):
      pen.slab(
        x + k * 6, top + 2, x + 4 + k * 6, top + 7, scene_pen.shade(sand, 1.1 if x != 24 else 1.18)
      )
    pen.slab(x + 13, top + 6, x + 16, 51, scene_pen.shade(sand, 0.88))
  pen.slab(28, 36, 36, 51, scene_pen.shade(sand, 0.55), 3)
  with pen.part("flag"):
    pen.stroke(((32, 10), (32, 1)), 1.0, scene_pen.WOOD)
    pen.polygon(((32, 0.5), (43, 3.4), (32, 6.4)), color)
  return pen
