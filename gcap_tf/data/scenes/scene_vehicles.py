"""Vehicles of drawn scenes: a car, a boat, a bicycle."""

import math

from gcap_tf.data.scenes import scene_pen


def paint_car(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(120, 56, scale, mirrored)
  pen.polygon(scene_pen.curve(((24, 24), (38, 5), (60, 2), (78, 5), (96, 24), (60, 28))), color)
  with pen.part("window"):
    pen.polygon(((33, 23), (43, 8), (57, 6), (57, 23)), scene_pen.GLASS)
    pen.polygon(((61, 23), (61, 6), (75, 8), (88, 23)), scene_pen.GLASS)
  pen.slab(4, 22, 116, 46, color, 9)
  pen.slab(4, 36, 116, 46, scene_pen.shade(color, 0.8), 5)
  pen.stroke(((59, 24), (59, 40)), 0.9, scene_pen.shade(color, 0.7))
  pen.slab(50, 28, 56, 30, scene_pen.shade(color, 0.65), 1)
  pen.ellipse(112, 30, 3.4, 3.6, (255, 240, 180))
  pen.ellipse(7, 30, 2.6, 3.4, (190, 40, 40))
  for x in (29, 91):
    with pen.part("wheel", another=True):
      pen.ellipse(x, 44, 11.4, 11.4, scene_pen.RUBBER)
      pen.ellipse(x, 44, 5.8, 5.8, (204, 208, 214))
      pen.ellipse(x, 44, 2.0, 2.0, scene_pen.STEEL)
  return pen


def paint_boat(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(92, 96, scale, mirrored)
  pen.stroke(((46, 4), (46, 78)), 2.6, scene_pen.WOOD)
  with pen.part("sail"):
    pen.polygon(scene_pen.curve(((49, 6), (64, 34), (76, 62), (49, 66))), accent)
    pen.polygon(((43, 14), (43, 66), (18, 64)), scene_pen.shade(accent, 0.9))
  pen.polygon(((6, 72), (88, 72), (76, 93), (20, 93)), color)
  pen.polygon(((6, 72), (88, 72), (85, 77), (9, 77)), scene_pen.shade(color, 1.35))
  pen.polygon(((14, 84), (81, 84), (76, 93), (20, 93)), scene_pen.shade(color, 0.8))
  return pen


def paint_bicycle(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(86, 54, scale, mirrored)
  for x in (18, 68):
    with pen.part("wheel", another=True):
      pen.ring(x, 36, 16.5, 2.6, scene_pen.RUBBER)
      for k in range(4):
        dx, dy = 14 * math.cos(k * math.pi / 4), 14 * math.sin(k * math.pi / 4)
        pen.stroke(((x - dx, 36 - dy), (x + dx, 36 + dy)), 0.5, scene_pen.STEEL)
  pen.stroke(((18, 36), (32, 17), (58, 17), (40, 37), (18, 36)), 2.8, color)
  pen.stroke(((30, 12), (40, 37)), 2.8, color)
  pen.stroke(((56, 8), (68, 36)), 2.8, color)
  pen.stroke(((56, 8), (63, 6)), 2.4, scene_pen.RUBBER)
  pen.slab(23, 9.5, 36, 13, scene_pen.RUBBER, 1.6)
  pen.ring(40, 37, 4.6, 1.8, scene_pen.STEEL)
  pen.stroke(((40, 37), (44, 44)), 1.8, scene_pen.STEEL)
  pen.anchor("saddle", 29, 10)
  return pen
