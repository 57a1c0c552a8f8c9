"""People for drawn scenes: four kinds, many poses, clothes as separate parts."""

import dataclasses

from gcap_tf.data.scenes import scene_pen

WIDTH, HEIGHT = 72.0, 100.0

SKINS: tuple[scene_pen.Color, ...] = (
  (247, 214, 186),
  (232, 184, 146),
  (188, 132, 94),
  (120, 80, 56),
)
HAIRS: tuple[scene_pen.Color, ...] = (
  (58, 40, 30),
  (32, 30, 34),
  (146, 96, 48),
  (226, 188, 104),
  (160, 74, 40),
)


@dataclasses.dataclass(frozen=True)
class Pose:
  """Joints in design units, facing right; (36, 55) is the hip of a standing person."""

  front_leg: tuple[scene_pen.Point, scene_pen.Point]  # knee, foot
  back_leg: tuple[scene_pen.Point, scene_pen.Point]
  front_arm: tuple[scene_pen.Point, scene_pen.Point]  # elbow, hand
  back_arm: tuple[scene_pen.Point, scene_pen.Point]
  lean: float = 0.0  # how far the shoulders are in front of the hip


POSES: dict[str, Pose] = {
  "stand": Pose(
    ((40, 75), (40.5, 94)), ((32, 75), (31.5, 94)), ((45, 42), (46, 56)), ((27, 42), (26, 56))
  ),
  "walk": Pose(
    ((44, 72), (49, 93)), ((34, 74), (22, 92)), ((29, 44), (24, 55)), ((43, 44), (51, 53)), 1
  ),
  "run": Pose(
    ((50, 66), (50, 85)), ((34, 76), (14, 80)), ((30, 45), (20, 40)), ((46, 42), (58, 38)), 5
  ),
  "wave": Pose(
    ((40, 75), (40.5, 94)), ((32, 75), (31.5, 94)), ((52, 27), (57, 11)), ((27, 42), (26, 56))
  ),
  "hold": Pose(
    ((40, 75), (40.5, 94)), ((32, 75), (31.5, 94)), ((46, 43), (56, 38)), ((27, 42), (26, 56))
  ),
  "sit": Pose(
    ((54, 58), (55, 80)), ((52, 59), (50, 81)), ((43, 45), (52, 54)), ((30, 45), (40, 55)), -1
  ),
  "cycle": Pose(
    ((52, 64), (44, 83)), ((50, 58), (52, 74)), ((50, 42), (62, 46)), ((46, 44), (61, 46)), 8
  ),
  "ride": Pose(
    ((46, 64), (42, 82)), ((42, 66), (36, 82)), ((46, 44), (56, 48)), ((42, 46), (54, 50)), 2
  ),
}


@dataclasses.dataclass(frozen=True)
class Look:
  """Looks and clothes of a person; colours by name.

  Attributes:
    kind: "man", "woman", "boy" or "girl".
    top: "shirt", "jacket" or "dress".
    hat: "hat", "cap", "helmet" or "" for bare heads.
  """

  kind: str
  skin: scene_pen.Color
  hair: scene_pen.Color
  top: str
  top_color: str
  legs_color: str
  hat: str = ""
  hat_color: str = "red"


def paint(look: Look, pose_name: str, scale: float, mirrored: bool) -> scene_pen.Pen:
  """Paints a person; the pen's anchors are "hand", "hip" and "top"."""
  child = look.kind in ("boy", "girl")
  pen = scene_pen.Pen(WIDTH, HEIGHT, scale, mirrored, margin=8)
  pose = POSES[pose_name]
  hip = (36.0, 55.0)
  neck = (36.0 + pose.lean, 26.0)
  top = scene_pen.COLORS[look.top_color]
  legs = scene_pen.COLORS[look.legs_color]
  shoe = (62, 50, 46)

  _arm(pen, look, (neck[0] - 5, neck[1] + 5), pose.back_arm, scene_pen.shade(top, 0.78))
  bare = look.top == "dress"
  leg_colors = (
    (look.skin, scene_pen.shade(look.skin, 0.86)) if bare else (legs, scene_pen.shade(legs, 0.8))
  )
  garment = "" if bare else "pants"
  _leg(pen, garment, (hip[0] - 3, hip[1]), pose.back_leg, leg_colors[1], shoe)
  _leg(pen, garment, (hip[0] + 3, hip[1]), pose.front_leg, leg_colors[0], shoe)
  with pen.part(look.top):
    _torso(pen, look, hip, neck, top)
  radius = 10.5 if child else 8.6
  _head(pen, look, (neck[0] + 0.5, neck[1] - radius - 1.5), radius)
  _arm(pen, look, (neck[0] + 5, neck[1] + 5), pose.front_arm, scene_pen.shade(top, 0.9))

  pen.anchor("hand", *pose.front_arm[1])
  pen.anchor("hip", *hip)
  pen.anchor("foot", *pose.front_leg[1])
  return pen


def _leg(
  pen: scene_pen.Pen,
  garment: str,
  hip: scene_pen.Point,
  leg: tuple[scene_pen.Point, scene_pen.Point],
  color: scene_pen.Color,
  shoe: scene_pen.Color,
):
  knee, foot = leg
  if garment:
    with pen.part(garment):
      pen.stroke((hip, knee, foot), 8.2, color)
  else:
    pen.stroke((hip, knee, foot), 6.0, color)
  pen.ellipse(foot[0] + 2.2, foot[1] + 2.2, 6, 3.2, shoe)


def _arm(
  pen: scene_pen.Pen,
  look: Look,
  shoulder: scene_pen.Point,
  arm: tuple[scene_pen.Point, scene_pen.Point],
  sleeve: scene_pen.Color,
) -> None:
  elbow, hand = arm
  wrist = (elbow[0] + 0.8 * (hand[0] - elbow[0]), elbow[1] + 0.8 * (hand[1] - elbow[1]))
  if look.top == "jacket":
    with pen.part(look.top):
      pen.stroke((shoulder, elbow, wrist), 6.4, sleeve)
  else:
    pen.stroke((elbow, hand), 5.0, look.skin)
    with pen.part(look.top):
      middle = (
        shoulder[0] + 0.9 * (elbow[0] - shoulder[0]),
        shoulder[1] + 0.9 * (elbow[1] - shoulder[1]),
      )
      pen.stroke((shoulder, middle), 6.6, sleeve)
  pen.ellipse(hand[0], hand[1], 3.1, 3.1, look.skin)


def _torso(
  pen: scene_pen.Pen,
  look: Look,
  hip: scene_pen.Point,
  neck: scene_pen.Point,
  color: scene_pen.Color,
) -> None:
  x, shift = hip[0], neck[0] - hip[0]
  half = 10.2 if look.kind == "man" else 8.8
  if look.top == "dress":
    outline = (
      (x + shift - half, 27),
      (x + shift + half, 27),
      (x + half - 2, 45),
      (x + 15, 70),
      (x, 72),
      (x - 15, 70),
      (x - half + 2, 45),
    )
  else:
    outline = (
      (x + shift - half + 2, 25.5), (x + shift + half - 2, 25.5), (x + shift + half, 30),
      (x + 8.6, 58), (x - 8.6, 58), (x + shift - half, 30),
    )  # fmt: skip
  pen.polygon(outline, color)
  pen.polygon(
    ((x + shift + 4, 26), (x + shift + half - 1, 27), (x + 8, 57), (x + 4, 57)),
    scene_pen.shade(color, 0.93),
  )
  if look.top == "jacket":
    pen.stroke(((x + shift, 27), (x, 57)), 1.4, scene_pen.shade(color, 0.68))
  else:
    pen.pie(x + shift + 0.5, 25.5, 4.2, 4.6, 0, 180, look.skin)


def _head(pen: scene_pen.Pen, look: Look, center: scene_pen.Point, r: float) -> None:
  x, y = center
  long_hair = look.kind in ("woman", "girl")
  with pen.part("head"):
    if long_hair:
      pen.blob(
        ((x - r * 0.2, y - r * 1.12), (x + r * 0.75, y - r * 0.6), (x + r * 0.1, y + r * 0.2),
         (x - r * 0.2, y + r * 1.5), (x - r * 1.25, y + r * 1.4), (x - r * 1.15, y - r * 0.2)),
        look.hair,
      )  # fmt: skip
    pen.stroke(
      ((x - 0.6, y + r * 0.7), (x - 0.6, y + r + 3)), 5.4, scene_pen.shade(look.skin, 0.88)
    )
    pen.ellipse(x, y, r * 0.92, r, look.skin)
    pen.ellipse(x - r * 0.45, y + r * 0.12, r * 0.2, r * 0.26, scene_pen.shade(look.skin, 0.86))
    pen.pie(x - 0.4, y - r * 0.12, r * 1.05, r * 1.05, 170, 330, look.hair)
    if not long_hair:
      pen.pie(x - r * 0.2, y, r * 0.92, r * 1.02, 150, 260, look.hair)
      pen.ellipse(x - r * 0.38, y + r * 0.1, r * 0.2, r * 0.26, scene_pen.shade(look.skin, 0.9))
    ink = (52, 40, 38)
    pen.ellipse(x + r * 0.2, y + r * 0.05, r * 0.11, r * 0.14, ink)
    pen.ellipse(x + r * 0.66, y + r * 0.05, r * 0.1, r * 0.14, ink)
    smile = (
      (x + r * 0.18, y + r * 0.44),
      (x + r * 0.4, y + r * 0.55),
      (x + r * 0.62, y + r * 0.42),
    )
    pen.stroke(smile, 1.1, (176, 84, 76))
  if look.hat:
    _hat(pen, look, x, y, r)


def _hat(pen: scene_pen.Pen, look: Look, x: float, y: float, r: float) -> None:
  color = scene_pen.COLORS[look.hat_color]
  dark = scene_pen.shade(color, 0.72)
  with pen.part(look.hat):
    if look.hat == "hat":
      pen.pie(x, y - r * 0.42, r * 0.98, r * 1.05, 180, 360, color)
      pen.slab(x - r * 0.98, y - r * 0.68, x + r * 0.98, y - r * 0.42, dark)
      pen.ellipse(x, y - r * 0.36, r * 1.65, r * 0.26, color)
    elif look.hat == "cap":
      pen.pie(x, y - r * 0.3, r * 1.06, r * 0.98, 180, 360, color)
      pen.ellipse(x + r * 0.95, y - r * 0.33, r * 0.75, r * 0.18, dark)
    else:
      pen.pie(x, y - r * 0.15, r * 1.22, r * 1.22, 176, 364, color)
      pen.slab(x - r * 0.2, y - r * 1.28, x + r * 0.2, y - r * 0.2, dark)
