"""Pictures of regions: boxes with their words, colours and scores."""

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from gcap_tf.vision import annotations, pictures
from gcap_tf.visuals import ink

SHOWN = 12
_TAG_SIZE = 13
_WIDTH = 480


def regions(
  picture: np.ndarray,
  boxes: np.ndarray,
  tags: Sequence[str],
  annotated: np.ndarray | None = None,
  title: str = "",
) -> Image.Image:
  """A photograph with its best regions, and annotated boxes in thin black and white.

  Args:
    picture: [height, width, 3] uint8.
    boxes: [R, 4] from 0 to 1, best first; all of them are drawn.
    tags: what to write at each box.
    annotated: [n, 4] from 0 to 1.
    title: a line above the picture.
  """
  image = Image.fromarray(picture)
  scale = max(1.0, _WIDTH / image.width)
  image = image.resize((round(image.width * scale), round(image.height * scale)))
  draw = ImageDraw.Draw(image)
  for box in () if annotated is None else annotated:
    edges = _pixels(box, image.size)
    draw.rectangle(edges, outline=(0, 0, 0), width=3)
    draw.rectangle(edges, outline=(255, 255, 255), width=1)
  for number in reversed(range(len(boxes))):
    ink.outline(draw, _pixels(boxes[number], image.size), ink.palette(number), 2)
  for number in reversed(range(len(boxes))):
    _tag(draw, _pixels(boxes[number], image.size), tags[number], ink.palette(number))
  return _titled(image, title) if title else image


def of_answer(
  path: pathlib.Path,
  answer: Any,
  labels: Sequence[str],
  annotated: np.ndarray | None = None,
  title: str = "",
) -> Image.Image:
  """A photograph with the best of its regions.

  Args:
    path: of the photograph.
    answer: has boxes [R, 4], scores [R], label_probs [R, L] and colour_probs [R, 11].
    labels: the L words.
    annotated: [n, 4] from 0 to 1.
    title: a line above the picture.
  """
  tags = [
    tag(labels[int(words.argmax())], _colour_name(colours), float(score))
    for words, colours, score in zip(
      answer.label_probs[:SHOWN], answer.colour_probs[:SHOWN], answer.scores[:SHOWN], strict=True
    )
  ]
  return regions(pictures.read(path), answer.boxes[:SHOWN], tags, annotated, title)


def _colour_name(shares: np.ndarray) -> str:
  """The likeliest colour; "" if none is likelier than not."""
  best = int(shares.argmax())
  return annotations.COLOURS[best] if shares[best] > 0.5 else ""


def tag(label: str, colour: str, score: float) -> str:
  """What is written at a box: "red shirt 83"."""
  return f"{colour} {label} {100 * score:.0f}".strip()


def _tag(draw: ImageDraw.ImageDraw, box: Sequence[float], text: str, color: ink.Color) -> None:
  width = ink.text_width(text, _TAG_SIZE) + 6
  x, y = box[0], max(box[1] - _TAG_SIZE - 4, 0)
  draw.rectangle((x, y, x + width, y + _TAG_SIZE + 4), fill=color)
  draw.text((x + 3, y), text, ink.readable_on(color), ink.font(_TAG_SIZE))


def _pixels(box: np.ndarray, size: tuple[int, int]) -> tuple[float, ...]:
  width, height = size
  x1, y1, x2, y2 = (float(edge) for edge in np.clip(box, 0, 1))
  x1, y1 = min(x1 * width, width - 2), min(y1 * height, height - 2)
  return x1, y1, max(x2 * width - 1, x1 + 1), max(y2 * height - 1, y1 + 1)


def _titled(image: Image.Image, title: str) -> Image.Image:
  whole = Image.new("RGB", (image.width, image.height + 24), ink.PAPER)
  ImageDraw.Draw(whole).text((6, 3), title, ink.TEXT, ink.font(15))
  whole.paste(image, (0, 24))
  return whole
