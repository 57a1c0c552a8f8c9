"""Fonts, colours, outlined shapes and word-wrapped text for drawings; Pillow only."""

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

Color = tuple[int, int, int]

PAPER: Color = (255, 255, 255)
TEXT: Color = (38, 42, 51)
FAINT: Color = (122, 130, 142)
HAIRLINE: Color = (222, 226, 232)

# Distinct for colour-blind readers, and dark enough for text on white paper.
PALETTE: tuple[Color, ...] = (
  (0, 134, 183),
  (232, 74, 20),
  (0, 150, 72),
  (145, 26, 103),
  (94, 35, 11),
  (69, 63, 167),
  (76, 110, 250),
)
# From dark violet over red to pale yellow: lightness rises evenly, so it also works in grey.
HEAT: tuple[Color, ...] = (
  (14, 8, 48),
  (92, 22, 110),
  (176, 48, 92),
  (236, 104, 44),
  (252, 224, 120),
)


def palette(number: int) -> Color:
  """Returns the colour of box `number`, from 0; colours repeat after the last."""
  return PALETTE[number % len(PALETTE)]


@functools.lru_cache(maxsize=32)
def font(size: int) -> ImageFont.FreeTypeFont:
  """Pillow's built-in scalable font."""
  return ImageFont.load_default(size)


def luminance(color: Color) -> float:
  """Relative luminance of an sRGB colour, 0 to 1 (WCAG 2)."""
  linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
            for c in (value / 255 for value in color)]  # fmt: skip
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: Color, b: Color) -> float:
  """Contrast ratio of two colours, 1 to 21 (WCAG 2)."""
  bright, dark = sorted((luminance(a), luminance(b)), reverse=True)
  return (bright + 0.05) / (dark + 0.05)


def readable_on(color: Color) -> Color:
  """Returns white if it is readable on `color` (contrast of 3 or more), else black."""
  return PAPER if contrast(PAPER, color) >= 3 else (20, 20, 24)


def outline(draw: ImageDraw.ImageDraw, box: Sequence[float], color: Color, width: int = 3) -> None:
  """Draws a rectangle between two thin white lines, visible on any background."""
  x1, y1, x2, y2 = (round(v) for v in box)
  draw.rectangle((x1 - 1, y1 - 1, x2 + 1, y2 + 1), outline=PAPER, width=width + 2)
  draw.rectangle((x1, y1, x2, y2), outline=color, width=width)


def chip(
  image: Image.Image, x: float, y: float, width: float, height: float, color: Color, rim: int = 0
) -> None:
  """Draws a smooth filled pill with its corner at (x, y) and a white rim of `rim` pixels."""
  for grow, ink in ((rim, PAPER), (0, color)):
    w, h = round(width) + 2 * grow, round(height) + 2 * grow
    mask = Image.new("L", (w * 4, h * 4))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, w * 4 - 1, h * 4 - 1), h * 2, fill=255)
    image.paste(ink, (round(x) - grow, round(y) - grow), mask.reduce(4))


def text_width(text: str, size: int) -> float:
  return font(size).getlength(text)


def centered_text(
  draw: ImageDraw.ImageDraw, x: float, y: float, text: str, size: int, color: Color
) -> None:
  """Draws text centred at (x, y)."""
  draw.text((x, y), text, font=font(size), fill=color, anchor="mm")


def heat_colors(values: np.ndarray) -> np.ndarray:
  """Maps [...] from 0 to 1 to [..., 3] uint8 colours of the heat scale."""
  stops = np.linspace(0, 1, len(HEAT))
  channels = [np.interp(values, stops, [color[i] for color in HEAT]) for i in range(3)]
  return np.stack(channels, axis=-1).round().astype(np.uint8)


@dataclasses.dataclass(frozen=True)
class Run:
  """A word to draw: its text, its colour, and the number of its box (None without a box)."""

  text: str
  color: Color = TEXT
  number: int | None = None


@dataclasses.dataclass(frozen=True)
class Placed:
  """A word with the place of its left end in the text block: x, and the row from 0."""

  run: Run
  x: float
  row: int


NO_SPACE_BEFORE = (".", ",", ";", ":", "!", "?", "'s", "n't", ")")


def marker_width(number: int | None, size: int) -> float:
  """Returns the width of a word's numbered disc and the gap after it."""
  if number is None:
    return 0.0
  return max(size * 0.95, text_width(str(number), round(size * 0.62)) + size * 0.45) + size * 0.2


def wrap(runs: Sequence[Run], width: float, size: int) -> list[Placed]:
  """Places words in rows no wider than `width`; a longer word is cut into pieces."""
  space = text_width(" ", size)
  placed, x, row = [], 0.0, 0
  for run in runs:
    gap = 0.0 if x == 0 or run.text in NO_SPACE_BEFORE else space
    for piece in _pieces(run, width, size):
      needed = marker_width(piece.number, size) + text_width(piece.text, size)
      if x and x + gap + needed > width:
        x, row, gap = 0.0, row + 1, 0.0
      placed.append(Placed(piece, x + gap, row))
      x, gap = x + gap + needed, 0.0
  return placed


def _pieces(run: Run, width: float, size: int) -> list[Run]:
  pieces, rest, number = [], run.text, run.number
  while rest:
    room = width - marker_width(number, size)
    end = len(rest)
    while end > 1 and text_width(rest[:end], size) > room:
      end -= 1
    pieces.append(Run(rest[:end], run.color, number))
    rest, number = rest[end:], None
  return pieces
