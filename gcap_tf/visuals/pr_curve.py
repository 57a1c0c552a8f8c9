"""Draws precision over recall, or risk over coverage, one line for each model, with Pillow."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from gcap_tf import errors, files

_WIDTH, _HEIGHT = 720, 560
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 30, 20, 60
_SHOWN = 100  # points of a long curve
_INK, _GRID = (40, 40, 40), (225, 225, 225)
# Tableau's ten colours, which most people can distinguish.
COLOURS = (
  (31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40), (148, 103, 189),
  (140, 86, 75), (227, 119, 194), (127, 127, 127), (188, 189, 34), (23, 190, 207),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Curve:
  """Points of one model, in the order of its thresholds, as fractions of 1.

  Attributes:
    recall, precision: [n] each.
    best: index of the point to circle, or None.
  """

  recall: Sequence[float]
  precision: Sequence[float]
  best: int | None = None


def save_risk(curves: Mapping[str, tuple[np.ndarray, np.ndarray]], path: files.PathLike) -> None:
  """Draws risk over coverage to a PNG file: name -> (coverage, risk), [n] each."""
  names = ("coverage", "share of boxes that are wrong")
  shown = {}
  for name, (coverage, risk) in curves.items():
    kept = np.unique(np.linspace(0, len(risk) - 1, _SHOWN).round().astype(int))
    shown[name] = Curve(coverage[kept], risk[kept])
  with files.atomic_path(path) as partial:
    draw(shown, "the surest first", names).save(partial, format="PNG")


def draw(
  curves: Mapping[str, Curve],
  title: str = "",
  axes: tuple[str, str] = ("recall", "precision"),
) -> Image.Image:
  """Draws the curves over axes from 0 to 1, with a legend.

  Args:
    curves: name in the legend -> points.
    title: a line above the axes.
    axes: names of the horizontal and the vertical axis.
  """
  picture = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
  pen = ImageDraw.Draw(picture)
  font = ImageFont.load_default(14)
  _axes(pen, font, title, axes)
  for number, (name, curve) in enumerate(curves.items()):
    colour = COLOURS[number % len(COLOURS)]
    points = _points(name, curve)
    if len(points) > 1:
      pen.line(points, fill=colour, width=2, joint="curve")
    for x, y in points:
      pen.ellipse((x - 3, y - 3, x + 3, y + 3), fill=colour)
    if curve.best is not None:
      x, y = points[curve.best]
      pen.ellipse((x - 8, y - 8, x + 8, y + 8), outline=colour, width=2)
    y = _TOP + 16 + 22 * number
    x = _WIDTH - _RIGHT - 200
    pen.line((x, y, x + 24, y), fill=colour, width=3)
    pen.text((x + 32, y), name, fill=_INK, font=font, anchor="lm")
  return picture


def place(recall: float, precision: float) -> tuple[float, float]:
  """Returns the pixel position of a point of the curve."""
  x = _LEFT + recall * (_WIDTH - _LEFT - _RIGHT)
  y = _HEIGHT - _BOTTOM - precision * (_HEIGHT - _TOP - _BOTTOM)
  return x, y


def _points(name: str, curve: Curve) -> list[tuple[float, float]]:
  values = np.array([curve.recall, curve.precision], np.float64)
  if not values.size or not ((values >= 0) & (values <= 1)).all():
    raise errors.UserError(f"curve {name}: precision and recall must be from 0 to 1, one or more")
  return [place(recall, precision) for recall, precision in values.T]


def _axes(
  pen: ImageDraw.ImageDraw, font: ImageFont.ImageFont, title: str, names: tuple[str, str]
) -> None:
  for tick in range(11):
    value = tick / 10
    pen.line((place(value, 0), place(value, 1)), fill=_GRID)
    pen.line((place(0, value), place(1, value)), fill=_GRID)
    x, y = place(value, 0)
    pen.text((x, y + 8), f"{value:.1f}", fill=_INK, font=font, anchor="mt")
    x, y = place(0, value)
    pen.text((x - 8, y), f"{value:.1f}", fill=_INK, font=font, anchor="rm")
  pen.rectangle((*place(0, 1), *place(1, 0)), outline=_INK)
  pen.text((place(0.5, 0)[0], _HEIGHT - 14), names[0], fill=_INK, font=font, anchor="ms")
  pen.text((8, _TOP - 8), names[1], fill=_INK, font=font, anchor="ls")
  pen.text((place(0.5, 0)[0], _TOP - 8), title, fill=_INK, font=font, anchor="ms")
