"""Things for drawn scenes: buildings, vehicles, furniture, toys and plants.

Every painter takes (color, accent, scale, mirrored); `accent` is a second colour that some
kinds show on a part of their own (a roof, a sail).
"""

import math
from collections.abc import Callable

from gcap_tf.data.scenes import scene_pen

GLASS: scene_pen.Color = (174, 214, 236)
STEEL: scene_pen.Color = (120, 126, 136)
WOOD: scene_pen.Color = (150, 102, 62)
RUBBER: scene_pen.Color = (46, 46, 52)


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
    pen.slab(46, 70, 66, 107, WOOD, 2)
    pen.slab(49, 74, 63, 86, scene_pen.shade(WOOD, 0.82), 1)
    pen.ellipse(62, 91, 1.7, 1.7, scene_pen.COLORS["yellow"])
  for x in (22, 74):
    with pen.part("window", another=True):
      pen.slab(x - 1.5, 63, x + 18.5, 85, scene_pen.COLORS["white"])
      pen.slab(x, 64.5, x + 17, 83.5, GLASS)
      pen.stroke(((x + 8.5, 64), (x + 8.5, 84)), 1.3, scene_pen.COLORS["white"])
      pen.stroke(((x, 74), (x + 17, 74)), 1.3, scene_pen.COLORS["white"])
  return pen


def paint_tree(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(84, 122, scale, mirrored)
  with pen.part("trunk"):
    pen.polygon(((36, 60), (48, 60), (49, 108), (55, 121), (30, 121), (36, 108)), WOOD)
    pen.polygon(((44, 60), (48, 60), (49, 108), (55, 121), (46, 121)), scene_pen.shade(WOOD, 0.8))
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
    pen.slab(37, 96, 47, 121, scene_pen.shade(WOOD, 0.85))
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


def paint_ball(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(24, 24, scale, mirrored)
  pen.ellipse(12, 12, 11.5, 11.5, scene_pen.shade(color, 0.86))
  pen.ellipse(11.2, 11.2, 10.2, 10.2, color)
  pen.polygon(
    scene_pen.curve(((2, 8), (12, 11), (22, 8), (23, 13), (12, 16.5), (1, 13))),
    scene_pen.COLORS["white"] if color != scene_pen.COLORS["white"] else scene_pen.COLORS["black"],
  )
  pen.ellipse(7.5, 6, 2.6, 1.9, scene_pen.shade(color, 1.6))
  return pen


def paint_car(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(120, 56, scale, mirrored)
  pen.polygon(scene_pen.curve(((24, 24), (38, 5), (60, 2), (78, 5), (96, 24), (60, 28))), color)
  with pen.part("window"):
    pen.polygon(((33, 23), (43, 8), (57, 6), (57, 23)), GLASS)
    pen.polygon(((61, 23), (61, 6), (75, 8), (88, 23)), GLASS)
  pen.slab(4, 22, 116, 46, color, 9)
  pen.slab(4, 36, 116, 46, scene_pen.shade(color, 0.8), 5)
  pen.stroke(((59, 24), (59, 40)), 0.9, scene_pen.shade(color, 0.7))
  pen.slab(50, 28, 56, 30, scene_pen.shade(color, 0.65), 1)
  pen.ellipse(112, 30, 3.4, 3.6, (255, 240, 180))
  pen.ellipse(7, 30, 2.6, 3.4, (190, 40, 40))
  for x in (29, 91):
    with pen.part("wheel", another=True):
      pen.ellipse(x, 44, 11.4, 11.4, RUBBER)
      pen.ellipse(x, 44, 5.8, 5.8, (204, 208, 214))
      pen.ellipse(x, 44, 2.0, 2.0, STEEL)
  return pen


def paint_boat(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(92, 96, scale, mirrored)
  pen.stroke(((46, 4), (46, 78)), 2.6, WOOD)
  with pen.part("sail"):
    pen.polygon(scene_pen.curve(((49, 6), (64, 34), (76, 62), (49, 66))), accent)
    pen.polygon(((43, 14), (43, 66), (18, 64)), scene_pen.shade(accent, 0.9))
  pen.polygon(((6, 72), (88, 72), (76, 93), (20, 93)), color)
  pen.polygon(((6, 72), (88, 72), (85, 77), (9, 77)), scene_pen.shade(color, 1.35))
  pen.polygon(((14, 84), (81, 84), (76, 93), (20, 93)), scene_pen.shade(color, 0.8))
  return pen


def paint_kite(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(44, 66, scale, mirrored)
  with pen.part("tail"):
    pen.stroke(scene_pen.curve(((22, 40), (27, 47), (20, 54), (25, 63)), closed=False), 1.3, STEEL)
    for x, y in ((26.5, 47), (20.5, 54.5), (24.5, 62)):
      pen.polygon(((x, y), (x - 4, y - 2.6), (x - 4, y + 2.6)), accent)
      pen.polygon(((x, y), (x + 4, y - 2.6), (x + 4, y + 2.6)), accent)
  pen.polygon(((22, 1), (41, 17), (22, 42), (3, 17)), color)
  pen.polygon(((22, 1), (41, 17), (22, 17)), accent)
  pen.polygon(((22, 42), (3, 17), (22, 17)), scene_pen.shade(accent, 0.88))
  pen.stroke(((22, 1), (22, 42)), 1.0, WOOD)
  pen.stroke(((3, 17), (41, 17)), 1.0, WOOD)
  pen.anchor("string", 22, 17)
  return pen


def paint_umbrella(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(64, 66, scale, mirrored)
  pen.stroke(((32, 4), (32, 60)), 1.8, STEEL)
  pen.stroke(scene_pen.curve(((32, 59), (33, 64), (37, 64), (38, 60)), closed=False), 2.2, WOOD)
  pen.pie(32, 30, 30, 26, 180, 360, color)
  pen.pie(32, 30, 13, 26, 180, 360, scene_pen.shade(color, 1.22))
  for x in (9.5, 32, 54.5):
    pen.ellipse(x, 30, 7.5 if x != 32 else 13, 2.2, scene_pen.shade(color, 0.8))
  pen.anchor("handle", 32, 56)
  return pen


def paint_bench(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(94, 46, scale, mirrored)
  for x in (12, 80):
    pen.stroke(((x, 3), (x, 24)), 3.2, scene_pen.shade(STEEL, 0.7))
    pen.stroke(((x, 24), (x - 2, 44)), 3.2, scene_pen.shade(STEEL, 0.7))
    pen.stroke(((x + 4, 24), (x + 5, 44)), 3.2, scene_pen.shade(STEEL, 0.7))
  for y in (2, 10):
    pen.slab(4, y, 90, y + 6, color, 2)
  pen.slab(2, 21, 92, 27.5, scene_pen.shade(color, 1.12), 2)
  pen.slab(2, 25, 92, 28, scene_pen.shade(color, 0.76), 1)
  pen.anchor("seat", 47, 23)
  return pen


def paint_bicycle(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(86, 54, scale, mirrored)
  for x in (18, 68):
    with pen.part("wheel", another=True):
      pen.ring(x, 36, 16.5, 2.6, RUBBER)
      for k in range(4):
        dx, dy = 14 * math.cos(k * math.pi / 4), 14 * math.sin(k * math.pi / 4)
        pen.stroke(((x - dx, 36 - dy), (x + dx, 36 + dy)), 0.5, STEEL)
  pen.stroke(((18, 36), (32, 17), (58, 17), (40, 37), (18, 36)), 2.8, color)
  pen.stroke(((30, 12), (40, 37)), 2.8, color)
  pen.stroke(((56, 8), (68, 36)), 2.8, color)
  pen.stroke(((56, 8), (63, 6)), 2.4, RUBBER)
  pen.slab(23, 9.5, 36, 13, RUBBER, 1.6)
  pen.ring(40, 37, 4.6, 1.8, STEEL)
  pen.stroke(((40, 37), (44, 44)), 1.8, STEEL)
  pen.anchor("saddle", 29, 10)
  return pen


def paint_table(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(96, 52, scale, mirrored)
  for x, y in ((20, 44), (76, 44), (10, 51), (86, 51)):
    pen.stroke(((x, 10), (x, y - 2)), 4.4, scene_pen.shade(color, 0.66 if y < 50 else 0.82))
  pen.polygon(((12, 2), (84, 2), (94, 10), (2, 10)), scene_pen.shade(color, 1.15))
  pen.slab(2, 10, 94, 15, scene_pen.shade(color, 0.85), 1)
  pen.anchor("top", 48, 7)
  return pen


def paint_chair(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(46, 62, scale, mirrored)
  for x, y in ((14, 54), (38, 54), (8, 61), (34, 61)):
    pen.stroke(((x, 34), (x, y - 1)), 3.4, scene_pen.shade(color, 0.66 if y < 60 else 0.8))
  pen.slab(5, 3, 11, 36, scene_pen.shade(color, 0.9), 2.5)
  for y in (7, 16):
    pen.slab(6, y, 10.5, y + 5, scene_pen.shade(color, 1.2), 1)
  pen.polygon(((8, 31), (40, 31), (37, 38), (5, 38)), scene_pen.shade(color, 1.12))
  pen.polygon(((5, 38), (37, 38), (37, 40.5), (5, 40.5)), scene_pen.shade(color, 0.8))
  pen.anchor("seat", 20, 33)
  return pen


def paint_sofa(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(116, 58, scale, mirrored)
  for x in (16, 100):
    pen.slab(x - 3, 48, x + 3, 57, WOOD)
  pen.slab(10, 2, 106, 40, scene_pen.shade(color, 0.9), 9)
  for x in (18, 59):
    pen.slab(x, 8, x + 39, 36, color, 6)
  for x in (16, 58.5):
    pen.slab(x, 30, x + 41.5, 42, scene_pen.shade(color, 1.16), 5)
  pen.slab(10, 40, 106, 51, scene_pen.shade(color, 0.82), 3)
  for x in (2, 98):
    pen.slab(x, 20, x + 16, 51, scene_pen.shade(color, 0.97), 7)
  pen.anchor("seat", 58, 33)
  return pen


def paint_cup(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(24, 22, scale, mirrored)
  pen.ring(18, 11, 5.4, 2.2, scene_pen.shade(color, 0.85))
  pen.polygon(((2, 3), (18, 3), (16, 20), (4, 20)), color)
  pen.polygon(((13, 3), (18, 3), (16, 20), (12.5, 20)), scene_pen.shade(color, 0.86))
  pen.ellipse(10, 20, 6, 1.4, scene_pen.shade(color, 0.92))
  pen.ellipse(10, 3, 8, 2.1, scene_pen.shade(color, 1.25))
  pen.ellipse(10, 3.2, 6.5, 1.4, (96, 58, 36))
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
    14, 12.5, 4.2, 4.2, scene_pen.COLORS["yellow"] if color != scene_pen.COLORS["yellow"] else WOOD
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
    pen.stroke(((33 + side * 12, 40), (33 + side * 30, 30)), 1.8, WOOD)
  for y, r in ((68, 19), (42, 14.5)):
    pen.ellipse(33, y, r, r, dim)
    pen.ellipse(31.6, y - 1, r - 1.8, r - 1.4, snow)
  for y in (38, 45):
    pen.ellipse(35, y, 1.6, 1.6, RUBBER)
  with pen.part("head"):
    pen.ellipse(33, 21, 10.8, 10.8, dim)
    pen.ellipse(32, 20.4, 9.6, 9.7, snow)
    for x in (32, 38.5):
      pen.ellipse(x, 18.6, 1.3, 1.5, RUBBER)
    pen.polygon(((35, 21), (46, 23.5), (35, 24.5)), scene_pen.COLORS["orange"])
  with pen.part("scarf"):
    pen.slab(23.5, 28.5, 42.5, 33, color, 2)
    pen.slab(38, 30, 43, 43, scene_pen.shade(color, 0.85), 1.5)
  with pen.part("hat"):
    pen.slab(25.5, 0.5, 40.5, 11, RUBBER, 1)
    pen.slab(25.5, 7.5, 40.5, 10, color)
    pen.slab(20, 10, 46, 13, RUBBER, 1.4)
  return pen


def paint_lamp(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(36, 94, scale, mirrored)
  pen.stroke(((18, 26), (18, 89)), 2.4, scene_pen.shade(STEEL, 0.7))
  pen.ellipse(18, 90, 11, 3.2, scene_pen.shade(STEEL, 0.7))
  with pen.part("shade"):
    pen.polygon(((10, 2), (26, 2), (35, 28), (1, 28)), color)
    pen.polygon(((21, 2), (26, 2), (35, 28), (25, 28)), scene_pen.shade(color, 0.87))
    pen.ellipse(18, 28, 17, 2.2, (255, 240, 190))
  return pen


def paint_balloon(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(32, 42, scale, mirrored)
  pen.polygon(((16, 34), (12.5, 40.5), (19.5, 40.5)), scene_pen.shade(color, 0.75))
  pen.blob(((16, 1), (28, 8), (30, 20), (16, 37), (2, 20), (4, 8)), color)
  pen.blob(((25, 8), (29, 20), (16, 36), (23, 22)), scene_pen.shade(color, 0.84))
  pen.ellipse(9.5, 11, 2.6, 4.4, scene_pen.shade(color, 1.5))
  pen.anchor("string", 16, 40)
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
    pen.stroke(((32, 10), (32, 1)), 1.0, WOOD)
    pen.polygon(((32, 0.5), (43, 3.4), (32, 6.4)), color)
  return pen


PAINTERS: dict[str, Callable[[scene_pen.Color, scene_pen.Color, float, bool], scene_pen.Pen]] = {
  "house": paint_house,
  "tree": paint_tree,
  "pine": paint_pine,
  "ball": paint_ball,
  "car": paint_car,
  "boat": paint_boat,
  "kite": paint_kite,
  "umbrella": paint_umbrella,
  "bench": paint_bench,
  "bicycle": paint_bicycle,
  "table": paint_table,
  "chair": paint_chair,
  "sofa": paint_sofa,
  "cup": paint_cup,
  "flower": paint_flower,
  "sun": paint_sun,
  "snowman": paint_snowman,
  "lamp": paint_lamp,
  "balloon": paint_balloon,
  "sandcastle": paint_castle,
}
