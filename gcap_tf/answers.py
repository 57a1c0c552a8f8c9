"""What a captioner answers: a caption, the box of each word, and the regions that it saw.

Boxes are x1, y1, x2, y2 from 0 to 1 of the upright picture; `to_json` has them in pixels.
"""

import dataclasses
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gcap_tf import errors, files

if TYPE_CHECKING:
  from PIL import Image

Box = tuple[float, float, float, float]


@dataclasses.dataclass(frozen=True)
class Word:
  """A word of a caption.

  Attributes:
    text: the word.
    box: the box of the thing that the word names; None if it names none.
    score: how likely that box is right, from 0 to 1, if the captioner is calibrated; else the
      attention on it. None if there is no box.
    box_index: the region that the word looked at, counted from 0; -1 for none.
    grounded: whether the word names a thing.
    looked_at: the box that the word looked at, whether or not it names a thing.
  """

  text: str
  box: Box | None
  score: float | None
  box_index: int
  grounded: bool
  looked_at: Box


@dataclasses.dataclass(frozen=True)
class Region:
  """A region that the captioner saw.

  Attributes:
    box: where.
    label: the detector's most likely word.
    colour: its most likely colour.
    score: how likely the box holds a thing, from 0 to 1.
  """

  box: Box
  label: str
  colour: str
  score: float


@dataclasses.dataclass(frozen=True)
class Answer:
  """The answer for one picture.

  Attributes:
    caption: the words joined by spaces.
    words: the words, with their boxes.
    answered: False if the captioner does not know what to say, or if the picture is damaged.
    regions: what it saw, best first.
    log_prob: log-probability of the caption.
    score: expected share of its things whose box is right; None if the captioner does not say.
    image_size: width and height of the upright picture.
    image_id: name of the file without its ending; "" if the picture has no name.
    error: why there is no caption; "" if there is one.
    attention: [words, regions], how much each word looked at each region.
    picture: the bytes of the picture file.
  """

  caption: str
  words: tuple[Word, ...]
  answered: bool
  regions: tuple[Region, ...]
  log_prob: float
  image_size: tuple[int, int]
  score: float | None = None
  image_id: str = ""
  error: str = ""
  attention: np.ndarray = dataclasses.field(default=None, repr=False, compare=False)
  picture: bytes = dataclasses.field(default=b"", repr=False)

  def draw(self, path: files.PathLike | None = None) -> "Image.Image":
    """Draws the picture with its boxes and the caption below; writes it if a path is given."""
    from PIL import Image, ImageOps

    from gcap_tf.visuals import draw

    if self.error:
      raise errors.UserError(f"nothing to draw: {self.error}")
    photograph = ImageOps.exif_transpose(Image.open(io.BytesIO(self.picture)))
    scored = any(word.score is not None for word in self.words)
    scores = np.array([word.score or 0.0 for word in self.words], np.float32)
    image = draw.grounded_caption(
      photograph,
      [word.text for word in self.words],
      np.array([word.looked_at for word in self.words], np.float32),
      [word.grounded for word in self.words],
      attention=scores if scored else None,
    )
    if path is not None:
      with files.atomic_path(path) as partial, open(partial, "wb") as file:
        image.save(file, Image.registered_extensions().get(_ending(path), "PNG"))
    return image

  def row(self) -> dict[str, Any]:
    """The row of `trainers.caption`: boxes in pixels, one for each word."""
    row = {
      "image_id": self.image_id,
      "caption": self.caption,
      "words": [word.text for word in self.words],
      "box_index": [word.box_index for word in self.words],
      "boxes": [self._pixels(word.looked_at) for word in self.words],
      "log_prob": self.log_prob,
      "score": self.score,
      "grounded": [word.grounded for word in self.words],
      "word_score": [word.score for word in self.words],
      "labels": [self._label(word.box_index) for word in self.words],
      "answered": self.answered,
      "image_size": list(self.image_size),
      "regions": [
        {**dataclasses.asdict(region), "box": self._pixels(region.box)} for region in self.regions
      ],
    }
    return row | ({"error": self.error} if self.error else {})

  def to_json(self) -> str:
    """The row as JSON text."""
    return json.dumps(self.row())

  def _pixels(self, box: Box) -> list[float]:
    return [float(value * size) for value, size in zip(box, self.image_size * 2, strict=True)]

  def _label(self, index: int) -> str:
    return self.regions[index].label if 0 <= index < len(self.regions) else ""


def from_outputs(
  outputs: Mapping[str, np.ndarray], row: int, image_id: str = "", picture: bytes = b""
) -> Answer:
  """The answer of one row of what `caption_image` returns (export/photograph_module.py).

  `word_score` [B, T], `score` [B] and `answered` [B] count if they are among the outputs.

  Args:
    outputs: arrays that lead with the batch.
    row: which.
    image_id: name of the picture.
    picture: its file.
  """
  found = {name: value[row] for name, value in outputs.items()}
  count, seen = int(found["length"]), int(found["num_regions"])
  error = found["error"].decode()
  answered = bool(found.get("answered", count > 0)) and not error
  return Answer(
    caption=found["caption"].decode(),
    words=tuple(_word(found, number) for number in range(count)),
    answered=answered,
    regions=tuple(
      Region(
        _box(found["region_boxes"][number]),
        found["region_labels"][number].decode(),
        found["region_colours"][number].decode(),
        float(found["region_scores"][number]),
      )
      for number in range(seen)
    ),
    log_prob=float(found["log_prob"]),
    image_size=(int(found["image_size"][0]), int(found["image_size"][1])),
    score=float(found["score"]) if "score" in found else None,
    image_id=image_id,
    error=error,
    attention=found["attention"][:count, :seen],
    picture=picture,
  )


def _word(found: Mapping[str, np.ndarray], number: int) -> Word:
  grounded, box = bool(found["grounded"][number]), _box(found["box"][number])
  scored = grounded and "word_score" in found
  return Word(
    text=found["words"][number].decode(),
    box=box if grounded else None,
    score=float(found["word_score"][number]) if scored else None,
    box_index=int(found["box_index"][number]),
    grounded=grounded,
    looked_at=box,
  )


def _box(values: np.ndarray) -> Box:
  return tuple(float(value) for value in values)


def _ending(path: files.PathLike) -> str:
  return f".{str(path).rpartition('.')[2].lower()}"
