"""Events of drawn scenes: small groups of objects with their facts.

Each group function puts its objects at (x, base) on a stage, at the size that fits the
depth, and states its facts. `compose` fills a stage with groups, rear decor and sky.
"""

from collections.abc import Callable

import numpy as np

from gcap_tf.data.scenes import scene_backgrounds, scene_layout

Group = Callable[[scene_layout.Stage, float, float], None]


def _faces_left(stage: scene_layout.Stage, x: float) -> bool:
  """People and animals mostly look towards the middle of the picture."""
  return bool((x > scene_layout.WIDTH / 2) ^ (stage.rng.random() < 0.2))


def person_alone(stage: scene_layout.Stage, x: float, base: float) -> None:
  pose = stage.choose(("stand", "walk", "walk", "run", "wave"))
  name = stage.choose(scene_layout.PEOPLE)
  who = stage.person(name, pose, x, base, stage.place.scale_at(base), _faces_left(stage, x))
  stage.fact(who, pose)


def person_with_thing(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale, mirrored = stage.place.scale_at(base), _faces_left(stage, x)
  options = ("umbrella", "balloon", "flower", "ball", "cup")
  thing = stage.choose(options if stage.place.outdoors else ("balloon", "flower", "ball", "cup"))
  name = stage.choose(scene_layout.PEOPLE)
  who = stage.person(name, "hold", x, base, scale, mirrored)
  hx, hy = stage.entities[who].point("hand")
  if thing == "umbrella":
    what = stage.thing(thing, hx, hy, scale, anchor="handle", depth=base - 0.1)
  elif thing == "balloon":
    sx, sy = hx + (-6 if mirrored else 6) * scale, hy - 50 * scale
    what = stage.thing(thing, sx, sy, scale, anchor="string", depth=base + 0.1)
    stage.strings.append((what, (hx, hy), (sx, sy)))
  else:
    drop = {"flower": 22, "ball": 10, "cup": 9}[thing] * scale * 0.8
    ahead = {"flower": 0, "ball": 6, "cup": 4}[thing] * (-scale if mirrored else scale)
    size = scale * (0.95 if thing == "flower" else 0.85)
    what = stage.thing(thing, hx + ahead, hy + drop, size, depth=base + 0.1)
  stage.fact(who, "hold", object=what)


def person_with_kite(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale = stage.place.scale_at(base)
  mirrored = x > scene_layout.WIDTH / 2
  name = stage.choose(scene_layout.PEOPLE)
  who = stage.person(name, "wave", x, base, scale, mirrored)
  hx, hy = stage.entities[who].point("hand")
  kx = float(
    np.clip(hx + (-1 if mirrored else 1) * stage.rng.uniform(40, 90), 24, scene_layout.WIDTH - 24)
  )
  ky = float(max(26, hy - stage.rng.uniform(50, 90)))
  what = stage.thing("kite", kx, ky, 0.95, anchor="string", depth=1)
  stage.strings.append((who, (kx, ky), (hx, hy)))
  stage.fact(who, "fly", object=what)


def person_on_seat(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale = stage.place.scale_at(base)
  seat = stage.choose(("bench",) if stage.place.outdoors else ("chair", "sofa"))
  what = stage.thing(seat, x, base, scale, depth=base)
  sx, sy = stage.entities[what].point("seat")
  name = stage.choose(scene_layout.PEOPLE)
  who = stage.person(
    name, "sit", sx + stage.rng.uniform(-12, 4), sy - 3 * scale, scale,
    _faces_left(stage, x) if seat != "chair" else stage.entities[what].pen.mirrored,
    anchor="hip", depth=base + 0.1,
  )  # fmt: skip
  stage.fact(who, "sit", "on", what)


def person_cycling(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale, name = stage.place.scale_at(base), stage.choose(scene_layout.PEOPLE)
  size = scale * (1.0 if name in ("man", "woman") else 0.78)
  what = stage.thing("bicycle", x, base, size, depth=base)
  bicycle = stage.entities[what]
  sx, sy = bicycle.point("saddle")
  who = stage.person(name, "cycle", sx, sy - 1, scale, bicycle.pen.mirrored,
                     anchor="hip", depth=base + 0.1)  # fmt: skip
  stage.fact(who, "ride", object=what)


def person_on_horse(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale, mirrored = stage.place.scale_at(base), _faces_left(stage, x)
  what = stage.animal("horse", stage.choose(("stand", "run")), x, base, scale * 0.95, mirrored,
                      depth=base)  # fmt: skip
  sx, sy = stage.entities[what].point("saddle")
  who = stage.person(stage.choose(scene_layout.PEOPLE), "ride", sx, sy + 1, scale * 0.82, mirrored,
                     anchor="hip", depth=base + 0.1)  # fmt: skip
  stage.fact(who, "ride", object=what)


def person_with_dog(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale, mirrored = stage.place.scale_at(base), _faces_left(stage, x)
  way = -1 if mirrored else 1
  who = stage.person(stage.choose(scene_layout.PEOPLE), "walk", x - way * 16, base, scale, mirrored)
  pose = stage.choose(("stand", "run"))
  dog = stage.animal("dog", pose, x + way * 42 * scale, base + 2, scale * 0.85, mirrored)
  hx, hy = stage.entities[who].point("hand")
  pet = stage.entities[dog]
  neck = (pet.left + pet.pen.columns * (0.3 if mirrored else 0.7), pet.top + pet.pen.rows * 0.42)
  stage.strings.append((dog, (hx, hy), neck))
  stage.fact(who, "walk", object=dog)
  stage.fact(dog, pose, "next to", who)


def dog_with_ball(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale, mirrored = stage.place.scale_at(base), _faces_left(stage, x)
  way = -1 if mirrored else 1
  dog = stage.animal("dog", "run", x - way * 14 * scale, base, scale, mirrored)
  ball = stage.thing("ball", x + way * 38 * scale, base + 1, scale * 0.8)
  stage.fact(dog, stage.choose(("chase", "play with")), object=ball)


def person_with_ball(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale, mirrored = stage.place.scale_at(base), _faces_left(stage, x)
  way = -1 if mirrored else 1
  who = stage.person(stage.choose(("boy", "girl", "man", "woman")), "run", x - way * 10, base,
                     scale, mirrored)  # fmt: skip
  ball = stage.thing("ball", x + way * 26 * scale, base + 1, scale * 0.9)
  stage.fact(who, stage.choose(("kick", "play with", "chase")), object=ball)


def animal_alone(stage: scene_layout.Stage, x: float, base: float) -> None:
  names = ("dog", "cat", "horse", "bird") if stage.place.outdoors else ("dog", "cat")
  name = stage.choose(names)
  pose = {"dog": ("stand", "run", "sit"), "cat": ("sit", "walk"), "horse": ("stand", "run"),
          "bird": ("perch",)}[name]  # fmt: skip
  pose = stage.choose(pose)
  who = stage.animal(name, pose, x, base, stage.place.scale_at(base), _faces_left(stage, x))
  stage.fact(who, pose)


def cat_on_furniture(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale = stage.place.scale_at(base)
  what = stage.choose(("bench",) if stage.place.outdoors else ("table", "sofa", "chair"))
  seat = stage.thing(what, x, base, scale, depth=base)
  furniture = stage.entities[seat]
  sx, sy = furniture.point("top" if what == "table" else "seat")
  name = stage.choose(("cat", "cat", "bird")) if stage.place.outdoors else "cat"
  pose = "sit" if name == "cat" else "perch"
  spread = 4 if what == "chair" else 20
  who = stage.animal(name, pose, sx + stage.rng.uniform(-spread, spread) * scale, sy + 2,
                     scale * 0.95, _faces_left(stage, x), depth=base + 0.1)  # fmt: skip
  stage.fact(who, pose, "on", seat)


def cat_under_table(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale = stage.place.scale_at(base)
  table = stage.thing("table", x, base, scale * 1.1, depth=base)
  cat = stage.animal("cat", "sit", x + stage.rng.uniform(-8, 8), base - 3, scale * 0.78,
                     _faces_left(stage, x), depth=base - 0.1)  # fmt: skip
  stage.fact(cat, "sit", "under", table)
  _cup_on(stage, table, scale)


def table_with_cup(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale = stage.place.scale_at(base)
  table = stage.thing("table", x, base, scale, depth=base)
  _cup_on(stage, table, scale)


def _cup_on(stage: scene_layout.Stage, table: int, scale: float) -> None:
  tx, ty = stage.entities[table].point("top")
  cup = stage.thing("cup", tx + stage.rng.uniform(-26, 26) * scale, ty, scale * 0.9,
                    depth=stage.entities[table].depth + 0.1)  # fmt: skip
  stage.fact(cup, "be", "on", table)


def child_building(stage: scene_layout.Stage, x: float, base: float) -> None:
  what = "sandcastle" if stage.place.name == "beach" else "snowman"
  scale, side = stage.place.scale_at(base), stage.choose((-1, 1))
  work = stage.thing(what, x + side * 30 * scale, base, scale, depth=base)
  who = stage.person(stage.choose(("boy", "girl", "boy", "girl", "man", "woman")), "hold",
                     x - side * 24 * scale, base, scale, side < 0)  # fmt: skip
  stage.fact(who, stage.choose(("build", "play with")), object=work)


def couple(stage: scene_layout.Stage, x: float, base: float) -> None:
  scale = stage.place.scale_at(base)
  first, second = stage.choose((("man", "woman"), ("woman", "man"), ("boy", "girl"), ("man", "man"),
                                ("woman", "girl"), ("man", "boy"), ("boy", "boy")))  # fmt: skip
  pose = stage.choose(("stand", "walk", "run"))
  gap, mirrored = 19 * scale, bool(stage.rng.random() < 0.5)
  a = stage.person(first, pose, x - gap, base, scale, mirrored)
  b = stage.person(second, pose, x + gap, base + 1, scale, mirrored)
  stage.fact(a, pose, "next to", b)
  stage.fact(b, pose, "next to", a)


def thing_alone(stage: scene_layout.Stage, x: float, base: float) -> None:
  names = {
    "meadow": ("flower", "bench", "bicycle", "ball", "umbrella"),
    "beach": ("umbrella", "ball", "sandcastle", "umbrella"),
    "street": ("car", "bicycle", "bench", "car"),
    "room": ("lamp", "sofa", "chair", "flower", "ball"),
    "snow": ("snowman", "bench", "ball"),
  }[stage.place.name]
  name = stage.choose(names)
  what = stage.thing(name, x, base, stage.place.scale_at(base))
  stage.fact(what, {"car": "park", "bicycle": "park", "ball": "lie"}.get(name, "stand"))


OUTDOOR: tuple[Group, ...] = (
  person_alone, person_alone, person_with_thing, person_with_thing, person_on_seat, couple, couple,
  animal_alone, animal_alone, dog_with_ball, person_with_dog, person_with_ball, person_with_kite,
  thing_alone, thing_alone, person_on_horse, cat_on_furniture,
)  # fmt: skip
GROUPS: dict[str, tuple[Group, ...]] = {
  "meadow": (*OUTDOOR, person_cycling, table_with_cup),
  "beach": (*OUTDOOR, child_building, child_building),
  "street": (*OUTDOOR, person_cycling, person_cycling),
  "room": (
    person_alone, person_with_thing, person_with_thing, person_on_seat, person_on_seat, couple,
    animal_alone, animal_alone, dog_with_ball, cat_on_furniture, cat_on_furniture, cat_under_table,
    table_with_cup, thing_alone, thing_alone,
  ),
  "snow": (*OUTDOOR, child_building, child_building),
}  # fmt: skip
SLOTS = {1: (160.0,), 2: (92.0, 232.0), 3: (58.0, 162.0, 266.0)}


def compose(rng: np.random.Generator) -> scene_layout.Scene:
  """Builds and paints one scene; all randomness comes from `rng`."""
  place = scene_backgrounds.PLACES[
    list(scene_backgrounds.PLACES)[int(rng.integers(len(scene_backgrounds.PLACES)))]
  ]
  stage = scene_layout.Stage(place, rng)
  count = int(rng.choice((1, 2, 3), p=(0.25, 0.5, 0.25)))
  for x in SLOTS[count]:
    nearness = rng.uniform(0.35, 1.0) if count < 3 else rng.uniform(0.25, 0.9)
    base = place.far + nearness * (place.near - place.far)
    stage.choose(GROUPS[place.name])(stage, float(x + rng.uniform(-14, 14)), float(base))
  _rear(stage)
  if place.outdoors:
    _sky(stage)
  return stage.finish(int(rng.integers(scene_backgrounds.VARIANTS)))


def _rear(stage: scene_layout.Stage) -> None:
  """Adds large things far away, partly hidden by things in front."""
  place, rng = stage.place, stage.rng
  names = {
    "meadow": ("house", "tree", "tree"),
    "beach": ("boat", "boat", "tree"),
    "street": ("tree", "car", "car"),
    "room": ("lamp", "sofa", "table"),
    "snow": ("pine", "house", "pine"),
  }[place.name]
  for _ in range(int(rng.integers(0, 3))):
    name, x = stage.choose(names), float(rng.uniform(36, scene_layout.WIDTH - 36))
    if name == "boat":
      base = float(rng.uniform(112, 132))
      what = stage.thing(name, x, base, 0.52, depth=50)
      stage.fact(what, stage.choose(("sail", "float")), "on", None)
      continue
    base = place.far + rng.uniform(0.0, 0.16) * (place.near - place.far)
    zoom = 1.25 if name == "house" else 1.0
    what = stage.thing(name, x, float(base), place.scale_at(base) * zoom)
    stage.fact(what, "park" if name == "car" else "stand")


def _sky(stage: scene_layout.Stage) -> None:
  rng = stage.rng
  if rng.random() < 0.3 and stage.place.name != "street":
    stage.thing("sun", float(stage.choose((38, 280))), 58, 0.85, depth=0)
  if rng.random() < 0.25:
    x, y = (
      float(rng.uniform(40, scene_layout.WIDTH - 40)),
      float(rng.uniform(36, scene_layout.HEIGHT * 0.36)),
    )
    bird = stage.animal("bird", "fly", x, y, 0.8, bool(rng.random() < 0.5), depth=2)
    stage.fact(bird, "fly", "in", None)
