"""What people hold or play with in drawn scenes: a ball, a kite, an umbrella, a balloon."""

from gcap_tf.data.scenes import scene_pen


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


def paint_kite(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(44, 66, scale, mirrored)
  with pen.part("tail"):
    pen.stroke(
      scene_pen.curve(((22, 40), (27, 47), (20, 54), (25, 63)), closed=False), 1.3, scene_pen.STEEL
    )
    for x, y in ((26.5, 47), (20.5, 54.5), (24.5, 62)):
      pen.polygon(((x, y), (x - 4, y - 2.6), (x - 4, y + 2.6)), accent)
      pen.polygon(((x, y), (x + 4, y - 2.6), (x + 4, y + 2.6)), accent)
  pen.polygon(((22, 1), (41, 17), (22, 42), (3, 17)), color)
  pen.polygon(((22, 1), (41, 17), (22, 17)), accent)
  pen.polygon(((22, 42), (3, 17), (22, 17)), scene_pen.shade(accent, 0.88))
  pen.stroke(((22, 1), (22, 42)), 1.0, scene_pen.WOOD)
  pen.stroke(((3, 17), (41, 17)), 1.0, scene_pen.WOOD)
  pen.anchor("string", 22, 17)
  return pen


def paint_umbrella(
  color: scene_pen.Color, accent: scene_pen.Color, scale: float, mirrored: bool
) -> scene_pen.Pen:
  pen = scene_pen.Pen(64, 66, scale, mirrored)
  pen.stroke(((32, 4), (32, 60)), 1.8, scene_pen.STEEL)
  pen.stroke(
    scene_pen.curve(((32, 59), (33, 64), (37, 64), (38, 60)), closed=False), 2.2, scene_pen.WOOD
  )
  pen.pie(32, 30, 30, 26, 180, 360, color)
  pen.pie(32, 30, 13, 26, 180, 360, scene_pen.shade(color, 1.22))
  for x in (9.5, 32, 54.5):
    pen.ellipse(x, 30, 7.5 if x != 32 else 13, 2.2, scene_pen.shade(color, 0.8))
  pen.anchor("handle", 32, 56)
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
