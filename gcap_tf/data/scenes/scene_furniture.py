"""Furniture of drawn scenes: seats, a table, a lamp, a cup."""

from gcap_tf.data.scenes import scene_pen


def paint_bench(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(94, 46, scale, mirrored)
  for x in (12, 80):
    pen.stroke(((x, 3), (x, 24)), 3.2, scene_pen.shade(scene_pen.STEEL, 0.7))
    pen.stroke(((x, 24), (x - 2, 44)), 3.2, scene_pen.shade(scene_pen.STEEL, 0.7))
    pen.stroke(((x + 4, 24), (x + 5, 44)), 3.2, scene_pen.shade(scene_pen.STEEL, 0.7))
  for y in (2, 10):
    pen.slab(4, y, 90, y + 6, color, 2)
  pen.slab(2, 21, 92, 27.5, scene_pen.shade(color, 1.12), 2)
  pen.slab(2, 25, 92, 28, scene_pen.shade(color, 0.76), 1)
  pen.anchor("seat", 47, 23)
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
    pen.slab(x - 3, 48, x + 3, 57, scene_pen.WOOD)
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


def paint_lamp(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(36, 94, scale, mirrored)
  pen.stroke(((18, 26), (18, 89)), 2.4, scene_pen.shade(scene_pen.STEEL, 0.7))
  pen.ellipse(18, 90, 11, 3.2, scene_pen.shade(scene_pen.STEEL, 0.7))
  with pen.part("shade"):
    pen.polygon(((10, 2), (26, 2), (35, 28), (1, 28)), color)
    pen.polygon(((21, 2), (26, 2), (35, 28), (25, 28)), scene_pen.shade(color, 0.87))
    pen.ellipse(18, 28, 17, 2.2, (255, 240, 190))
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
