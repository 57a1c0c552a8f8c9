"""Drawn videos: segments of ten frames in which things move, every thing with a box a frame.

A word is annotated in some of the frames in which its thing is seen (`annotated_frames`); a
detector sees all boxes. Two segments make a video; the person of the first is "he" or "she" in the
second. As with pictures,
`record(config, split, number)` depends on the seed and its place alone. `Record.picture` is the
strip of the frames, side by side.
"""

import dataclasses

import numpy as np
from PIL import Image

from gcap_tf.data import records
from gcap_tf.data.scenes import (
  drawn_scenes,
  scene_backgrounds,
  scene_layout,
  scene_words,
  video_events,
)

FRAMES = 10
SEGMENTS = 2  # of a video
SECONDS = 10.0  # of a segment
_OTHERS = ("tree", "house", "car", "bench", "dog", "cat", "horse")
_ANIMALS = ("dog", "cat", "horse")
_BALL_SCALE = 0.85


def class_names() -> list[str]:
  """The object classes: those of pictures, and pronouns."""
  return sorted({*drawn_scenes.class_names(), *video_events.PRONOUN_CLASSES})


def record(config: drawn_scenes.SceneConfig, split: str, number: int, most: int) -> records.Record:
  """Draws and describes segment `number` of the `most` of a split."""
  video, segment = divmod(number, SEGMENTS)
  count = min(SEGMENTS, most - video * SEGMENTS)
  start = {"train": 0, "val": 1, "test": 2}[split]
  seed = [config.seed, 7, start, video]
  rng = np.random.Generator(np.random.PCG64(seed))
  cast, variant = _cast(rng), int(rng.integers(scene_backgrounds.VARIANTS))
  # Looks are drawn again for every frame, from the same seed.
  own = np.random.Generator(np.random.PCG64([*seed, segment]))
  found = video_events.events(segment, cast.is_animal)
  motion, sentences = found[int(own.integers(len(found)))]
  frames = [
    _frame(cast, motion(cast, frame / (FRAMES - 1)), seed, variant) for frame in range(FRAMES)
  ]
  words = sentences[int(own.integers(len(sentences)))]
  name = f"v_scene{config.seed}_{split}_{video:05d}"
  image_id = f"{name}_segment_{segment:02d}"
  return records.Record(
    image_id=image_id,
    split=split,
    width=scene_layout.WIDTH,
    height=scene_layout.HEIGHT,
    captions=(_caption(cast, frames, words, segment, image_id, own, config.annotated_frames),),
    annotated=tuple(
      dataclasses.replace(thing, frame=number)
      for number, (scene, _) in enumerate(frames)
      for thing in drawn_scenes.annotated(scene)
    ),
    picture=drawn_scenes.png(strip([scene.picture for scene, _ in frames])),
    segment=records.Segment(
      name,
      str(segment),
      segment,
      count,
      segment * SECONDS,
      (segment + 1) * SECONDS,
      count * SECONDS,
      FRAMES,
    ),
  )


def strip(pictures: list[Image.Image]) -> Image.Image:
  """Frames side by side."""
  width, height = pictures[0].size
  joined = Image.new("RGB", (width * len(pictures), height))
  for number, picture in enumerate(pictures):
    joined.paste(picture, (number * width, 0))
  return joined


def _cast(rng: np.random.Generator) -> video_events.Cast:
  def choose(options):
    return options[int(rng.integers(len(options)))]

  place = scene_backgrounds.PLACES[choose(("meadow", "street", "beach", "snow"))]
  other = choose(_OTHERS)
  from_left = bool(rng.integers(2))
  home, spot = rng.uniform(90, 140), rng.uniform(200, 250)
  if not from_left:
    home, spot = scene_layout.WIDTH - home, scene_layout.WIDTH - spot
  base = float(rng.uniform(0.35, 0.8) * (place.near - place.far) + place.far)
  person = choose(scene_layout.PEOPLE)
  return video_events.Cast(
    place, person, other, other in _ANIMALS, float(home), float(spot), base, from_left
  )


def _frame(
  cast: video_events.Cast, placed: dict[int, video_events.Placed], seed: list[int], variant: int
) -> tuple[scene_layout.Scene, dict[int, int]]:
  """The painted frame, and the entity of every actor that is there."""
  entities = {}
  rng = np.random.Generator(np.random.PCG64([*seed, 99]))
  stage = scene_layout.Stage(cast.place, rng)
  for actor in (video_events.PERSON, video_events.OTHER, video_events.BALL):
    # Every actor has draws of its own, so that one who is away does not change the others' looks.
    stage.rng = np.random.Generator(np.random.PCG64([*seed, 99, actor]))
    if actor in placed:
      entities[actor] = _add(stage, cast, actor, placed[actor], entities)
  return stage.finish(variant), entities


def _add(stage, cast, actor: int, at: video_events.Placed, entities: dict[int, int]) -> int:
  scale = cast.place.scale_at(min(at.base, cast.place.near))
  if actor == video_events.PERSON:
    index = stage.person(cast.person, at.pose, at.x, at.base, scale, at.mirrored)
  elif actor == video_events.OTHER and cast.is_animal:
    index = stage.animal(cast.other, at.pose, at.x, at.base, scale * 0.9, at.mirrored)
  else:
    name = "ball" if actor == video_events.BALL else cast.other
    size = scale * (_BALL_SCALE if name == "ball" else 0.9)
    index = stage.thing(name, at.x, at.base, size, depth=at.base)
  entity = stage.entities[index]
  x, bottom = at.x, at.base - at.lift
  if at.held:
    x, y = stage.entities[entities[video_events.PERSON]].point("hand")
    bottom = y + entity.pen.rows / 2
  entity.left, entity.top = round(x - entity.pen.columns / 2), round(bottom - entity.pen.rows)
  return index


def _caption(cast, frames, words, segment: int, image_id: str, rng, most: int) -> records.Caption:
  tokens: list[str] = []
  tags: list[str] = []
  objects: list[records.ObjectWord] = []

  def say(word: str, tag: str) -> None:
    tokens.append(word)
    tags.append(tag)

  def point(name: str, key: tuple[int, str]) -> None:
    boxes = _boxes(frames, *key)
    kept = sorted(rng.permutation(len(boxes))[:most].tolist())
    boxes = tuple(boxes[n] for n in kept)
    if boxes:
      objects.append(records.ObjectWord(len(tokens) - 1, name, boxes[0].box_px, boxes))

  for word in words:
    if isinstance(word, str):
      say(word, video_events.TAGS[word])
    elif word == video_events.PERSON and segment:
      say(video_events.pronoun(cast.person), "PRON")
      point(tokens[-1], (word, ""))
    else:
      _noun_phrase(cast, frames, word, segment, rng, say, point)
  text = " ".join(tokens)
  return records.Caption(f"{image_id}#0", text, tuple(tokens), tuple(tags), objects=tuple(objects))


def _noun_phrase(cast, frames, actor: int, segment: int, rng, say, point) -> None:
  """A determiner, a colour, a noun; a person sometimes with clothes."""
  shown = next(scene.entities[own[actor]] for scene, own in frames if actor in own)
  noun = scene_words.NOUNS[shown.name][0][0]
  colour = shown.color if actor != video_events.PERSON and rng.random() < 0.7 else ""
  article = "an" if (colour or noun)[0] in "aeiou" else "a"
  say("the" if segment else article, "DET")
  if colour:
    say(colour, "ADJ")
  say(noun, "NOUN")
  point(drawn_scenes.LABELS.get(shown.name, shown.name), (actor, ""))
  clothes = [part for part in shown.part_colors if part in ("shirt", "jacket", "dress")]
  if actor == video_events.PERSON and clothes and rng.random() < 0.5:
    colour = shown.part_colors[clothes[0]]
    say("in", "ADP")
    say("an" if colour[0] in "aeiou" else "a", "DET")
    say(colour, "ADJ")
    say(clothes[0], "NOUN")
    point(clothes[0], (actor, clothes[0]))


def _boxes(frames, actor: int, part: str) -> tuple[records.FrameBox, ...]:
  """The boxes of an actor, or of a part of it, in the frames in which it is seen."""
  found = []
  for number, (scene, entities) in enumerate(frames):
    if actor not in entities:
      continue
    entity = scene.entities[entities[actor]]
    box = dict(entity.part_boxes).get(part) if part else entity.box_px
    if box is not None:
      place = 2 * (number * 3 + actor) + bool(part)
      found.append(records.FrameBox(number, np.asarray(box, np.float32), place))
  return tuple(found)
