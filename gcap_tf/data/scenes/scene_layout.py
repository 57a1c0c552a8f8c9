"""The layout of a drawn scene: entities, their facts and their painted boxes.

A scene is built from groups (a man on a bench, a dog after its ball) in slots
from left to right at different depths, painted from far to near. Boxes are those of the
pixels that remain visible; relations are read off the finished picture.
"""

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from PIL import Image, ImageDraw

from gcap_tf.data.scenes import (
  scene_animals,
  scene_backgrounds,
  scene_pen,
  scene_people,
  scene_things,
)

T = TypeVar("T")

WIDTH, HEIGHT = scene_backgrounds.WIDTH, scene_backgrounds.HEIGHT
PEOPLE = ("man", "woman", "boy", "girl")
MIN_VISIBLE = 0.4  # share of its pixels below which an object does not count as seen
MIN_PIXELS, MIN_PART_PIXELS = 30, 8
SKY_DEPTH = 100  # what is nearer than this stands on the ground

THING_COLORS: dict[str, tuple[str, ...]] = {
  "house": ("red", "blue", "yellow", "white", "pink", "gray"),
  "tree": ("green",),
  "pine": (),
  "ball": ("red", "blue", "yellow", "green", "orange", "white"),
  "car": ("red", "blue", "yellow", "green", "black", "white", "orange"),
  "boat": ("red", "blue", "white", "brown", "green"),
  "kite": ("red", "blue", "yellow", "green", "purple"),
  "umbrella": ("red", "blue", "yellow", "green", "purple", "black", "pink"),
  "bench": ("brown", "green", "gray"),
  "bicycle": ("red", "blue", "black", "green", "pink"),
  "table": ("brown", "white", "gray"),
  "chair": ("brown", "blue", "red", "green"),
  "sofa": ("red", "blue", "green", "gray", "purple"),
  "cup": ("red", "blue", "white", "green", "orange"),
  "flower": ("red", "pink", "yellow", "purple", "white", "orange"),
  "sun": (),
  "snowman": (),
  "lamp": ("yellow", "red", "white", "green"),
  "balloon": ("red", "blue", "yellow", "green", "pink", "orange"),
  "sandcastle": (),
}
ANIMAL_COLORS: dict[str, tuple[str, ...]] = {
  "dog": ("brown", "black", "white", "tan", "gray"),
  "cat": ("black", "orange", "gray", "white", "brown"),
  "horse": ("brown", "black", "white", "tan", "gray"),
  "bird": ("blue", "red", "black", "yellow", "white"),
}
ACCENTED = {"house": "roof", "boat": "sail", "snowman": "scarf", "sandcastle": "flag"}
PEOPLE_SCALE = {"man": 1.0, "woman": 0.95, "boy": 0.74, "girl": 0.72}


@dataclasses.dataclass
class Entity:
  """One painted object.

  Attributes:
    name: its class ("dog"); "pine" is a tree.
    color: colour word, "" if captions should not mention it.
    size: "small", "large" or "".
    pose: of its body ("run"), "" for things.
    part_colors: colour word of each named part that has one.
    depth: the ground line it stands on, in pixels; larger is nearer.
    box_px: [4] visible extent; set by `Stage.finish`; None if it is not visible.
    part_boxes: name and visible extent of each part; a car has two of its wheels.
  """

  name: str
  pen: scene_pen.Pen
  left: int
  top: int
  depth: float
  color: str = ""
  size: str = ""
  pose: str = ""
  part_colors: dict[str, str] = dataclasses.field(default_factory=dict)
  box_px: np.ndarray | None = None
  part_boxes: list[tuple[str, np.ndarray]] = dataclasses.field(default_factory=list)

  def point(self, anchor: str) -> scene_pen.Point:
    """The place of an anchor of the pen in the picture."""
    x, y = self.pen.anchors[anchor]
    return self.left + x * self.pen.scale, self.top + y * self.pen.scale

  def window(self) -> tuple[slice, slice]:
    """Rows and columns of the picture that its tile covers."""
    top, left = max(0, self.top), max(0, self.left)
    bottom = max(top, min(HEIGHT, self.top + self.pen.rows))
    right = max(left, min(WIDTH, self.left + self.pen.columns))
    return slice(top, bottom), slice(left, right)


@dataclasses.dataclass(frozen=True)
class Fact:
  """subject does verb [preposition] object; entities by position in the scene."""

  subject: int
  verb: str
  preposition: str = ""
  object: int | None = None


@dataclasses.dataclass
class Scene:
  """A finished picture and its facts."""

  place: scene_backgrounds.Place
  entities: list[Entity]
  facts: list[Fact]
  place_boxes: dict[str, np.ndarray]
  picture: Image.Image


class Stage:
  """Collects entities and facts, then paints them.

  Attributes:
    strings: (entity, start, end): thin lines, each drawn just before that entity.
  """

  def __init__(self, place: scene_backgrounds.Place, rng: np.random.Generator):
    self.place, self.rng = place, rng
    self.entities: list[Entity] = []
    self.facts: list[Fact] = []
    self.strings: list[tuple[int, scene_pen.Point, scene_pen.Point]] = []

  def choose(self, options: Sequence[T]) -> T:
    return options[int(self.rng.integers(len(options)))]

  def fact(self, subject: int, verb: str, preposition: str = "", object: int | None = None):
    self.facts.append(Fact(subject, verb, preposition, object))

  def thing(self, name: str, x: float, base: float, scale: float, **where) -> int:
    """Adds a thing standing at (x, base), or with `anchor=` that point there."""
    color = self.choose(THING_COLORS[name]) if THING_COLORS[name] else ""
    accents = [c for c in ("red", "blue", "orange", "white", "green", "brown") if c != color]
    accent = self.choose(accents)
    size = ""
    if self.rng.random() < 0.3 and not where:
      size = self.choose(("small", "large"))
      scale *= 0.75 if size == "small" else 1.22
    main = accent if name in ("snowman", "sandcastle") else color or "red"
    mirrored = bool(self.rng.random() < 0.5)
    pen = scene_things.PAINTERS[name](
      scene_pen.COLORS[main], scene_pen.COLORS[accent], scale, mirrored
    )
    index = self._add(name, pen, x, base, **where)
    entity = self.entities[index]
    entity.color, entity.size = ("" if name == "tree" else color), size
    if name in ACCENTED:
      entity.part_colors[ACCENTED[name]] = accent
    return index

  def animal(self, name: str, pose: str, x: float, base: float, scale: float, mirrored: bool,
             **where) -> int:  # fmt: skip
    color = self.choose(ANIMAL_COLORS[name])
    pen = scene_animals.PAINTERS[name](scene_pen.COLORS[color], pose, scale, mirrored)
    index = self._add(name, pen, x, base, **where)
    self.entities[index].color, self.entities[index].pose = color, pose
    return index

  def person(self, name: str, pose: str, x: float, base: float, scale: float, mirrored: bool,
             **where) -> int:  # fmt: skip
    rng = self.rng
    female = name in ("woman", "girl")
    cold = self.place.name == "snow"
    tops = (
      ("jacket",) if cold else (("dress", "shirt", "jacket") if female else ("shirt", "jacket"))
    )
    hats = ("", "hat", "cap") if pose != "cycle" else ("helmet", "helmet", "cap")
    look = scene_people.Look(
      kind=name,
      skin=self.choose(scene_people.SKINS),
      hair=self.choose(scene_people.HAIRS),
      top=self.choose(tops),
      top_color=self.choose(
        ("red", "blue", "green", "yellow", "orange", "purple", "pink", "white", "gray")
      ),
      legs_color=self.choose(("blue", "black", "brown", "gray")),
      hat=self.choose(hats) if self.place.outdoors or rng.random() < 0.3 else "",
      hat_color=self.choose(("red", "blue", "tan", "black", "green", "orange", "white")),
    )
    pen = scene_people.paint(look, pose, scale * PEOPLE_SCALE[name], mirrored)
    index = self._add(name, pen, x, base, **where)
    entity = self.entities[index]
    entity.pose = pose
    entity.part_colors[look.top] = look.top_color
    if look.top != "dress":
      entity.part_colors["pants"] = look.legs_color
    if look.hat:
      entity.part_colors[look.hat] = look.hat_color
    return index

  def _add(self, name: str, pen: scene_pen.Pen, x: float, base: float, anchor: str = "",
           depth: float | None = None) -> int:  # fmt: skip
    if anchor:
      dx, dy = (v * pen.scale for v in pen.anchors[anchor])
    else:
      dx, dy = pen.columns / 2, pen.rows
    left = round(x - dx)
    if not anchor:
      left = min(max(left, -pen.columns // 6), WIDTH - pen.columns + pen.columns // 6)
    top = round(base - dy)
    self.entities.append(Entity(name, pen, left, top, base if depth is None else depth))
    return len(self.entities) - 1

  def finish(self, variant: int) -> Scene:
    """Paints from far to near and reads the boxes off the visible pixels."""
    ground, part = scene_backgrounds.tile(self.place.name, variant)
    names = scene_backgrounds.paint(self.place.name, variant).parts
    canvas, part = ground.copy(), part.copy()
    owner = np.zeros((HEIGHT, WIDTH), np.uint8)  # 0: the place; otherwise entity + 1
    order = sorted(range(len(self.entities)), key=lambda i: (self.entities[i].depth, i))
    pixels = {index: self._paint(index, canvas, owner, part) for index in order}
    for index in order:
      self._measure(index, pixels[index], owner, part)
    part[owner > 0] = 0
    boxes = {name: _extent(part == number) for number, name in enumerate(names, start=2)}
    boxes = {name: box for name, box in boxes.items() if box is not None}
    return Scene(self.place, self.entities, self.facts, boxes, canvas)

  def _paint(self, index: int, canvas: Image.Image, owner: np.ndarray, part: np.ndarray) -> int:
    """Paints one entity; returns how many of its pixels fell inside the picture."""
    entity = self.entities[index]
    tile, numbers = entity.pen.finish()
    if entity.depth > SKY_DEPTH:
      _shadow(canvas, entity)
    for at, start, end in self.strings:
      if at == index:
        _string(canvas, start, end)
    canvas.paste(tile, (entity.left, entity.top), tile)
    window = entity.window()
    inside = numbers[
      window[0].start - entity.top : window[0].stop - entity.top,
      window[1].start - entity.left : window[1].stop - entity.left,
    ]
    mask = inside > 0
    owner[window][mask] = index + 1
    part[window][mask] = inside[mask]
    return int(np.count_nonzero(numbers))

  def _measure(self, index: int, pixels: int, owner: np.ndarray, part: np.ndarray) -> None:
    entity = self.entities[index]
    window = entity.window()
    visible = owner[window] == index + 1
    count = int(np.count_nonzero(visible))
    if count < MIN_PIXELS or count < MIN_VISIBLE * pixels:
      return
    corner = np.asarray([window[1].start, window[0].start] * 2, np.float32)
    entity.box_px = _extent(visible) + corner
    mine = np.where(visible, part[window], 0)
    for number, name in enumerate(entity.pen.parts, start=2):
      mask = mine == number
      if np.count_nonzero(mask) >= MIN_PART_PIXELS:
        entity.part_boxes.append((name, _extent(mask) + corner))


def _extent(mask: np.ndarray) -> np.ndarray | None:
  """x1, y1, x2, y2 around the true pixels; x2 and y2 are one past the last."""
  rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
  if not len(rows):
    return None
  return np.asarray([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], np.float32)


def _shadow(canvas: Image.Image, entity: Entity) -> None:
  """A soft dark ellipse on the ground under what stands there."""
  half = entity.pen.columns * 0.42
  thin = max(2.0, half * 0.16)
  x, y = entity.left + entity.pen.columns / 2, entity.top + entity.pen.rows - 1
  if abs(y - entity.depth) > 6:
    return  # it is held, or flies
  size = (max(2, round(2 * half)), max(2, round(2 * thin)))
  large = Image.new("L", (size[0] * 2, size[1] * 2))
  ImageDraw.Draw(large).ellipse((0, 0, size[0] * 2 - 1, size[1] * 2 - 1), fill=70)
  canvas.paste((30, 34, 44), (round(x - half), round(y - thin)), large.reduce(2))


def _string(canvas: Image.Image, start: scene_pen.Point, end: scene_pen.Point) -> None:
  """A thin sagging line; it belongs to no object's box."""
  middle = ((start[0] + end[0]) / 2 + 2, (start[1] + end[1]) / 2 + 5)
  points = scene_pen.curve((start, middle, end), closed=False)
  ImageDraw.Draw(canvas).line(points, fill=(92, 92, 98), width=1)
