"""Animals for drawn scenes, facing right: dog, cat, horse, bird."""

from gcap_tf.data.scenes import scene_pen

INK: scene_pen.Color = (40, 34, 34)


def paint_dog(color: scene_pen.Color, pose: str, scale: float, mirrored: bool) -> scene_pen.Pen:
  """Poses: "stand", "run", "sit"."""
  pen = scene_pen.Pen(68, 50, scale, mirrored)
  dark, light = scene_pen.shade(color, 0.76), scene_pen.shade(color, 1.25)
  if pose == "sit":
    with pen.part("tail"):
      pen.stroke(((20, 43), (11, 44), (6, 37)), 4.2, dark)
    pen.blob(
      ((22, 46), (18, 36), (26, 24), (38, 17), (45, 24), (44, 36), (42, 47), (32, 49)), color
    )
    pen.stroke(((42, 28), (44, 46)), 5.4, dark)
    pen.stroke(((38, 28), (39, 46.5)), 5.6, color)
    pen.ellipse(41, 47, 4.6, 2.6, color)
    pen.ellipse(28, 40, 9, 8, scene_pen.shade(color, 0.92))
    pen.ellipse(31, 47, 7, 2.6, color)
    _dog_head(pen, (45, 13), color, dark, light)
    return pen
  legs = {
    "stand": ((17, 46), (23, 46), (42, 46), (47, 46)),
    "run": ((5, 41), (12, 45), (54, 44), (60, 39)),
  }[pose]
  with pen.part("tail"):
    pen.stroke(((13, 24), (6, 18), (4, 10)), 4.2, dark)
  for i, (x, y) in enumerate(legs):
    hip = (17.0, 30.0) if i < 2 else (45.0, 30.0)
    pen.stroke(
      (hip, ((hip[0] + x) / 2 + (2 if i < 2 else -1), 37), (x, y)),
      5.4,
      dark if i % 2 == 0 else color,
    )
    pen.ellipse(x + 1.2, y + 1.2, 3.8, 2.5, light if i % 2 else color)
  pen.blob(
    ((12, 24), (22, 20), (38, 21), (48, 17), (53, 24), (50, 34), (38, 34), (26, 33), (15, 34)),
    color,
  )
  pen.ellipse(40, 32, 8, 3, light)
  _dog_head(pen, (53, 14), color, dark, light)
  return pen


def _dog_head(
  pen: scene_pen.Pen,
  center: scene_pen.Point,
  color: scene_pen.Color,
  dark: scene_pen.Color,
  light: scene_pen.Color,
) -> None:
  x, y = center
  with pen.part("head"):
    pen.ellipse(x, y, 8.4, 8, color)
    pen.blob(
      ((x + 2, y - 2), (x + 11, y + 0.5), (x + 13, y + 4), (x + 9, y + 7.5), (x + 1, y + 7)), light
    )
    pen.ellipse(x + 12, y + 1.8, 2.2, 1.9, INK)
    pen.blob(((x - 6, y - 7), (x - 1, y - 5), (x - 2, y + 6), (x - 7, y + 8), (x - 9, y + 1)), dark)
    pen.ellipse(x + 3.4, y - 2, 1.3, 1.5, INK)
    pen.stroke(((x + 6, y + 5.6), (x + 10, y + 5)), 0.9, INK)


def paint_cat(color: scene_pen.Color, pose: str, scale: float, mirrored: bool) -> scene_pen.Pen:
  """Poses: "sit", "walk"."""
  pen = scene_pen.Pen(54, 42, scale, mirrored)
  dark, light = scene_pen.shade(color, 0.76), scene_pen.shade(color, 1.3)
  if pose == "sit":
    with pen.part("tail"):
      pen.stroke(scene_pen.curve(((16, 38), (6, 38), (4, 30), (8, 25)), closed=False), 3.4, dark)
    pen.blob(((16, 40), (14, 31), (20, 21), (29, 17), (35, 24), (36, 40), (26, 41)), color)
    pen.blob(((30, 22), (34, 26), (33, 34), (29, 34)), light)
    pen.stroke(((33, 28), (34, 39)), 3.8, dark)
    pen.stroke(((29, 28), (29.5, 39.4)), 3.8, color)
    pen.ellipse(22, 39.2, 6, 2.2, color)
    _cat_head(pen, (31, 12), color, dark)
    return pen
  with pen.part("tail"):
    pen.stroke(scene_pen.curve(((10, 22), (4, 16), (5, 8), (9, 5)), closed=False), 3.2, dark)
  for i, (hip, foot) in enumerate(
    (((13, 28), (9, 39)), ((34, 28), (38, 39)), ((15, 28), (19, 39)), ((32, 28), (29, 39)))
  ):
    pen.stroke((hip, foot), 3.9, dark if i < 2 else color)
  pen.blob(((8, 23), (16, 19), (30, 20), (38, 18), (39, 27), (33, 31), (20, 30), (11, 31)), color)
  for x in (16, 21, 26):
    pen.stroke(((x, 20), (x + 0.5, 25)), 1.5, dark)
  _cat_head(pen, (42, 15), color, dark)
  return pen


def _cat_head(
  pen: scene_pen.Pen, center: scene_pen.Point, color: scene_pen.Color, dark: scene_pen.Color
) -> None:
  x, y = center
  with pen.part("head"):
    for side in (-1, 1):
      pen.polygon(
        ((x + side * 7.4, y - 10), (x + side * 1.2, y - 6), (x + side * 7.2, y - 1)), color
      )
      pen.polygon(
        ((x + side * 6.3, y - 7.6), (x + side * 2.8, y - 5), (x + side * 6.2, y - 3)),
        (232, 160, 158),
      )
    pen.ellipse(x, y, 8.6, 7.4, color)
    pen.ellipse(x + 0.6, y + 2.8, 4.2, 3.0, scene_pen.shade(color, 1.45))
    for side in (-1, 1):
      pen.ellipse(x + side * 3.6, y - 1.2, 1.7, 1.9, (206, 222, 120))
      pen.ellipse(x + side * 3.6 + 0.3, y - 1.2, 0.8, 1.7, INK)
    pen.polygon(((x - 1.1, y + 1.3), (x + 1.9, y + 1.3), (x + 0.4, y + 2.9)), (206, 110, 116))
    for side in (-1, 1):
      pen.stroke(((x + side * 4, y + 3), (x + side * 10, y + 1.8)), 0.5, dark)


def paint_horse(color: scene_pen.Color, pose: str, scale: float, mirrored: bool) -> scene_pen.Pen:
  """Poses: "stand", "run". The anchor "saddle" is where a rider's hip goes."""
  pen = scene_pen.Pen(106, 92, scale, mirrored)
  dark, mane = scene_pen.shade(color, 0.76), scene_pen.shade(color, 0.45)
  feet = {
    "stand": ((24, 87), (32, 88), (64, 87), (72, 88)),
    "run": ((8, 76), (20, 86), (84, 84), (94, 72)),
  }[pose]
  with pen.part("tail"):
    pen.blob(((19, 40), (9, 44), (4, 60), (8, 66), (12, 56), (20, 48)), mane)
  for i, foot in enumerate(feet):
    hip = (27.0, 56.0) if i < 2 else (67.0, 57.0)
    knee = ((hip[0] + foot[0]) / 2 + (3 if i < 2 else -2 + 6 * (pose == "run")), 70.0)
    tone = dark if i % 2 == 0 else color
    pen.stroke((hip, knee), 9, tone)
    pen.stroke((knee, foot), 5.6, tone)
    pen.ellipse(foot[0] + 1, foot[1] + 1, 4.2, 2.8, mane)
  pen.blob(
    (
      (17, 44),
      (28, 37),
      (46, 40),
      (62, 37),
      (76, 40),
      (78, 52),
      (70, 62),
      (46, 62),
      (28, 63),
      (18, 56),
    ),
    color,
  )
  pen.blob(((64, 40), (74, 24), (80, 12), (90, 14), (88, 26), (80, 40), (77, 52), (68, 52)), color)
  with pen.part("head"):
    pen.polygon(((80, 12), (82, 3), (86, 11)), color)
    pen.blob(((80, 11), (88, 9), (96, 20), (101, 27), (98, 32), (92, 31), (84, 24)), color)
    pen.blob(((96, 22), (101, 27), (98, 32), (93, 30)), dark)
    pen.ellipse(88, 15.5, 1.5, 1.7, INK)
    pen.ellipse(98.6, 27.6, 0.9, 0.9, INK)
  pen.blob(((82, 6), (76, 12), (69, 24), (62, 39), (68, 40), (76, 26), (82, 14)), mane)
  pen.anchor("saddle", 47, 40)
  return pen


def paint_bird(color: scene_pen.Color, pose: str, scale: float, mirrored: bool) -> scene_pen.Pen:
  """Poses: "fly", "perch"."""
  pen = scene_pen.Pen(40, 30, scale, mirrored)
  dark, light = scene_pen.shade(color, 0.68), scene_pen.shade(color, 1.35)
  beak = (242, 166, 48)
  if pose == "fly":
    with pen.part("wing"):
      pen.polygon(scene_pen.curve(((20, 17), (10, 8), (5, 1), (16, 5), (25, 15))), dark)
    pen.polygon(((9, 19), (1, 15), (1, 21)), dark)
    pen.blob(((6, 19), (16, 14), (28, 13), (32, 17), (24, 22), (13, 22)), color)
    pen.blob(((14, 20), (24, 18), (29, 18), (23, 22)), light)
    with pen.part("wing"):
      pen.polygon(scene_pen.curve(((17, 17), (17, 8), (24, 0.8), (29, 5), (27, 16))), dark)
    head = (31.0, 14.0)
  else:
    pen.polygon(((11, 20), (2, 24), (9, 25)), dark)
    for x in (18, 21.5):
      pen.stroke(((x, 25), (x, 29)), 1.1, beak)
    pen.blob(((9, 20), (15, 13), (24, 11), (28, 17), (24, 25), (15, 26)), color)
    pen.blob(((22, 14), (27, 17), (24, 24), (19, 25)), light)
    with pen.part("wing"):
      pen.blob(((10, 20), (15, 15), (21, 16), (19, 22), (12, 24)), dark)
    head = (26.0, 9.0)
  with pen.part("head"):
    x, y = head
    pen.polygon(((x + 4, y - 1.6), (x + 9, y + 0.6), (x + 4, y + 2.2)), beak)
    pen.ellipse(x, y, 5.2, 5, color)
    pen.ellipse(x + 2, y - 1, 1.0, 1.1, INK)
  return pen


PAINTERS = {"dog": paint_dog, "cat": paint_cat, "horse": paint_horse, "bird": paint_bird}
