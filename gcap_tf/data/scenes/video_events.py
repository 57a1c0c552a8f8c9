"""Events of drawn videos: who moves where in the ten frames of a segment, and its sentence.

A video has a main person, a thing or an animal, and a ball. Its first segment is one of `FIRST`,
its second one of `SECOND`; there the person is "he" or "she".

    enter      a man walks in and stops next to a tree
    pick up    a boy in a red shirt picks up a blue ball
    behind     a woman walks behind a car           (she is hidden for some frames)
    throw      he throws the ball to a dog
    leave      she walks away from a bench
    follow     he runs after a dog
"""

import dataclasses
from collections.abc import Callable

from gcap_tf.data.scenes import scene_backgrounds, scene_layout

PERSON, OTHER, BALL = range(3)
_OUTSIDE = 60.0  # pixels beyond the edge at which nobody is seen
_PRONOUNS = {"man": "he", "boy": "he", "woman": "she", "girl": "she"}


@dataclasses.dataclass(frozen=True)
class Cast:
  """Who plays in a video, and where.

  Attributes:
    place: of the video.
    person: kind of the main person ("man").
    other: class of the thing or animal ("tree", "dog").
    is_animal: whether `other` is an animal.
    home: x at which the person is between the two segments.
    spot: x of the other.
    base: ground line of the person.
    from_left: side from which people come and to which they go.
  """

  place: scene_backgrounds.Place
  person: str
  other: str
  is_animal: bool
  home: float
  spot: float
  base: float
  from_left: bool

  @property
  def edge(self) -> float:
    return -_OUTSIDE if self.from_left else scene_layout.WIDTH + _OUTSIDE


@dataclasses.dataclass(frozen=True)
class Placed:
  """An actor in one frame: `lift` pixels above its ground line; `held` by the person's hand."""

  x: float
  base: float
  pose: str = ""
  mirrored: bool = False
  lift: float = 0.0
  held: bool = False


# Time from 0 to 1 -> actor -> where it is; actors that are left out are not there.
Motion = Callable[[Cast, float], dict[int, Placed]]
# Words of a sentence; an integer is the noun phrase of that actor.
Words = tuple[str | int, ...]


def _walks(cast: Cast, start: float, end: float, time: float, pose: str = "walk") -> Placed:
  """The person on the way from x `start` to x `end`; stands when it is there."""
  done = time >= 1
  x = start + (end - start) * min(time, 1.0)
  return Placed(x, cast.base, "stand" if done else pose, mirrored=end < start)


def _other(cast: Cast) -> Placed:
  pose = "stand" if cast.is_animal and cast.other != "cat" else "sit" if cast.is_animal else ""
  return Placed(cast.spot, cast.base - 4, pose, mirrored=cast.spot > cast.home)


def enter(cast: Cast, time: float) -> dict[int, Placed]:
  return {PERSON: _walks(cast, cast.edge, cast.home, 1.3 * time), OTHER: _other(cast)}


def pick_up(cast: Cast, time: float) -> dict[int, Placed]:
  """The ball lies until the person is there, then it is in the hand."""
  start = cast.home + (-70 if cast.from_left else 70)
  person = _walks(cast, start, cast.home, 2 * time)
  lying = cast.home + (22 if cast.from_left else -22)
  if time < 0.55:
    return {PERSON: person, BALL: Placed(lying, cast.base + 2), OTHER: _other(cast)}
  holds = dataclasses.replace(person, pose="hold", mirrored=not cast.from_left)
  return {PERSON: holds, BALL: Placed(cast.home, cast.base + 2, held=True), OTHER: _other(cast)}


def behind(cast: Cast, time: float) -> dict[int, Placed]:
  """The person passes behind the other, which is nearer and hides it."""
  far = dataclasses.replace(cast, base=cast.base - 14)
  way = 1 if cast.from_left else -1
  start, end = cast.spot - way * 90, cast.spot + way * 90
  near = dataclasses.replace(_other(cast), base=cast.base + 8)
  return {PERSON: _walks(far, start, end, time * 0.999), OTHER: near}


def throw(cast: Cast, time: float) -> dict[int, Placed]:
  """The ball is in the hand, then flies to the other in a bow."""
  person = Placed(cast.home, cast.base, "hold", mirrored=cast.spot < cast.home)
  if time < 0.35:
    return {PERSON: person, BALL: Placed(cast.home, cast.base + 2, held=True), OTHER: _other(cast)}
  person = dataclasses.replace(person, pose="wave")
  way = min(1.0, (time - 0.35) / 0.5)
  x = cast.home + (cast.spot - cast.home) * way
  lift = 30 * (1 - way) + 160 * way * (1 - way)
  return {PERSON: person, BALL: Placed(x, cast.base + 2, lift=lift), OTHER: _other(cast)}


def leave(cast: Cast, time: float) -> dict[int, Placed]:
  if time < 0.2:
    return {PERSON: Placed(cast.home, cast.base, "stand"), OTHER: _other(cast)}
  return {PERSON: _walks(cast, cast.home, cast.edge, time - 0.1), OTHER: _other(cast)}


def follow(cast: Cast, time: float) -> dict[int, Placed]:
  """An animal runs off and the person after it."""
  way = 1 if cast.spot > cast.home else -1
  run = way * 150 * time
  pose = "run" if cast.other != "cat" else "walk"
  return {
    PERSON: Placed(cast.home + run, cast.base, "run", mirrored=way < 0),
    OTHER: Placed(cast.spot + run, cast.base - 4, pose, mirrored=way < 0),
  }


FIRST: tuple[tuple[Motion, tuple[Words, ...]], ...] = (
  (
    enter,
    (
      (PERSON, "walks", "in", "and", "stops", "next", "to", OTHER),
      (PERSON, "comes", "to", OTHER),
    ),
  ),
  (pick_up, ((PERSON, "picks", "up", BALL), (PERSON, "lifts", BALL, "near", OTHER))),
  (behind, ((PERSON, "walks", "behind", OTHER), (PERSON, "passes", "behind", OTHER))),
)  # fmt: skip
SECOND: tuple[tuple[Motion, tuple[Words, ...]], ...] = (
  (throw, ((PERSON, "throws", BALL, "to", OTHER), (PERSON, "tosses", BALL, "at", OTHER))),
  (leave, ((PERSON, "walks", "away", "from", OTHER), (PERSON, "leaves", OTHER))),
  (follow, ((PERSON, "runs", "after", OTHER), (PERSON, "follows", OTHER))),
)
TAGS = {
  **dict.fromkeys(
    ("walks", "stops", "comes", "picks", "lifts", "passes", "throws", "tosses", "leaves", "runs",
     "follows"),
    "VERB",
  ),
  **dict.fromkeys(("in", "to", "up", "near", "behind", "from", "at", "after", "of"), "ADP"),
  **dict.fromkeys(("next", "away"), "ADV"),
  **dict.fromkeys(("a", "an", "the"), "DET"),
  "and": "CCONJ",
}  # fmt: skip
PRONOUN_CLASSES = tuple(sorted(set(_PRONOUNS.values())))


def events(segment: int, is_animal: bool) -> tuple[tuple[Motion, tuple[Words, ...]], ...]:
  """What can happen in a segment; nobody runs after a tree."""
  found = FIRST if segment == 0 else SECOND
  return tuple(event for event in found if is_animal or event[0] is not follow)


def pronoun(person: str) -> str:
  return _PRONOUNS[person]
