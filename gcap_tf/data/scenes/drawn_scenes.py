"""Drawn scenes: a dataset without downloads, whose every noun has an exact box.

Pictures are painted by code, captions come from a grammar that reads the facts of the
picture. `record(config, index)` depends on only the seed and the index, so any process can
make any record, in any order.
"""

import dataclasses
import io
from collections.abc import Iterator

import numpy as np
from PIL import Image

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.scenes import scene_grammar, scene_groups, scene_layout, scene_words

CAPTION_TRIES = 8  # attempts to make a caption that repeats no earlier one
LABELS = {"pine": "tree"}


@dataclasses.dataclass(frozen=True)
class SceneConfig:
  """How many scenes a split has; records are numbered train first, then val, then test.

  Attributes:
    train, val, test: scenes of each split.
    seed: of every choice.
    captions: per picture; a segment of a video has one.
    video: draws segments of videos instead (`drawn_videos.py`); then the counts are segments.
    annotated_frames: frames of a segment in which a word has a box, at most; ActivityNet-Entities
      annotates one.
  """

  train: configs.Count = 2000
  val: configs.Count = 200
  test: configs.Count = 200
  seed: configs.Count = 1
  captions: configs.PositiveInt = 5
  video: bool = False
  annotated_frames: configs.PositiveInt = 1

  @property
  def total(self) -> int:
    return self.train + self.val + self.test


def class_names() -> list[str]:
  """The object classes of the grammar: lemmas that `ObjectWord.name` can be."""
  return scene_words.class_names()


def generate(config: SceneConfig) -> Iterator[records.Record]:
  """All records, train first."""
  for index in range(config.total):
    yield record(config, index)


def record(config: SceneConfig, index: int) -> records.Record:
  """Paints and describes scene `index` (0 <= index < config.total)."""
  if not 0 <= index < config.total:
    raise errors.UserError(f"scenes: there is no scene {index}; the last is {config.total - 1}")
  rng = np.random.Generator(np.random.PCG64([config.seed, index]))
  scene = scene_groups.compose(rng)
  image_id = f"scene{config.seed}_{index:06d}"
  return records.Record(
    image_id=image_id,
    split=_split(config, index),
    width=scene_layout.WIDTH,
    height=scene_layout.HEIGHT,
    captions=_captions(scene, rng, image_id, config.captions),
    annotated=annotated(scene),
    picture=png(scene.picture),
  )


def _split(config: SceneConfig, index: int) -> str:
  if index < config.train:
    return "train"
  return "val" if index < config.train + config.val else "test"


def _captions(
  scene: scene_layout.Scene, rng: np.random.Generator, image_id: str, count: int
) -> tuple[records.Caption, ...]:
  writer = scene_grammar.CaptionWriter(scene, rng)
  earlier: set[tuple[str, ...]] = set()
  captions = []
  for number in range(count):
    for _ in range(CAPTION_TRIES):
      sentence = writer.caption()
      if tuple(sentence.tokens) not in earlier:
        break
    earlier.add(tuple(sentence.tokens))
    captions.append(_caption(sentence, f"{image_id}#{number}"))
  return tuple(captions)


def _caption(sentence: scene_grammar.Sentence, caption_id: str) -> records.Caption:
  text = " ".join(sentence.tokens)
  return records.Caption(
    caption_id=caption_id,
    text=text[0].upper() + text[1:] + ".",
    tokens=tuple(sentence.tokens),
    tags=tuple(sentence.tags),
    phrases=tuple(
      records.Phrase(m.start, m.end, m.entity, (m.kind,), m.boxes_px) for m in sentence.mentions
    ),
    objects=tuple(
      records.ObjectWord(m.head, m.name, _enclosing(m.boxes_px)) for m in sentence.mentions
    ),
  )


def _enclosing(boxes_px: np.ndarray) -> np.ndarray:
  """The smallest box around all of an entity's boxes."""
  return np.concatenate([boxes_px[:, :2].min(0), boxes_px[:, 2:].max(0)])


def annotated(scene: scene_layout.Scene) -> tuple[records.AnnotatedObject, ...]:
  """Every visible object, its parts after it; the place's parts last."""
  objects = []
  for index, entity in enumerate(scene.entities):
    if entity.box_px is None:
      continue
    label = LABELS.get(entity.name, entity.name)
    attributes = tuple(word for word in (entity.size, entity.color) if word)
    objects.append(records.AnnotatedObject(label, entity.box_px, str(index), attributes))
    for part, box in entity.part_boxes:
      color = entity.part_colors.get(part, "")
      objects.append(
        records.AnnotatedObject(part, box, f"{index}.{part}", (color,) if color else ())
      )
  for part, box in scene.place_boxes.items():
    objects.append(records.AnnotatedObject(part, box, f"place.{part}"))
  return tuple(objects)


def png(picture: Image.Image) -> bytes:
  """The picture as a PNG file."""
  buffer = io.BytesIO()
  picture.save(buffer, "PNG", compress_level=3)
  return buffer.getvalue()
