"""Draws figures over a number, one line for each name, with Pillow.

Each line has its own range, written in the legend, so that figures of different size share a
chart; `common` gives all lines one range.
"""

from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw, ImageFont

from gcap_tf import errors
from gcap_tf.visuals import pr_curve

_WIDTH, _HEIGHT = 760, 520
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 40, 220, 60
_INK, _GRID = (40, 40, 40), (225, 225, 225)
_TICKS = 5

Line = Sequence[tuple[float, float]]


def draw(
  lines: Mapping[str, Line],
  title: str,
  axis: str,
  common: bool = False,
  labels: Sequence[str] = (),
) -> Image.Image:
  """The chart.

  Args:
    lines: name -> points (x, y).
    title: a line above the axes.
    axis: what x is.
    common: one range from 0 for all lines, with numbers at the axis.
    labels: names of x = 0, 1, .. instead of numbers.
  """
  points = [point for line in lines.values() for point in line]
  if not points:
    raise errors.UserError(f"chart {title}: no line has a point")
  picture = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
  pen, font = ImageDraw.Draw(picture), ImageFont.load_default(13)
  xs = (min(x for x, _ in points), max(x for x, _ in points))
  top = max((y for _, y in points), default=1.0) or 1.0
  _axes(pen, font, title, axis, xs, top if common else None, labels)
  for number, (name, line) in enumerate(lines.items()):
    colour = pr_curve.COLOURS[number % len(pr_curve.COLOURS)]
    ys = (0.0, top) if common else (min(y for _, y in line), max(y for _, y in line))
    places = [_place(_share(x, xs), _share(y, ys)) for x, y in sorted(line)]
    if len(places) > 1:
      pen.line(places, fill=colour, width=2, joint="curve")
    for x, y in places:
      pen.ellipse((x - 3, y - 3, x + 3, y + 3), fill=colour)
    legend = name if common else f"{name} {ys[0]:.2f} to {ys[1]:.2f}"
    y = _TOP + 12 + 22 * number
    pen.line((_WIDTH - _RIGHT + 10, y, _WIDTH - _RIGHT + 28, y), fill=colour, width=3)
    pen.text((_WIDTH - _RIGHT + 34, y), legend, fill=_INK, font=font, anchor="lm")
  return picture


def _share(value: float, bounds: tuple[float, float]) -> float:
  """Where a value lies between two bounds, from 0 to 1; the middle if they are equal."""
  low, high = bounds
  return 0.5 if high == low else (value - low) / (high - low)


def _place(x: float, y: float) -> tuple[float, float]:
  return (
    _LEFT + x * (_WIDTH - _LEFT - _RIGHT),
    _HEIGHT - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM),
  )


def _axes(pen, font, title, axis, xs, top, labels) -> None:
  for tick in range(_TICKS + 1):
    share = tick / _TICKS
    pen.line((_place(0, share), _place(1, share)), fill=_GRID)
    if top is not None:
      x, y = _place(0, share)
      pen.text((x - 8, y), f"{share * top:.1f}", fill=_INK, font=font, anchor="rm")
    if not labels:
      x, y = _place(share, 0)
      value = xs[0] + share * (xs[1] - xs[0])
      pen.text((x, y + 8), f"{value:g}", fill=_INK, font=font, anchor="mt")
  for number, label in enumerate(labels):
    x, y = _place(_share(number, xs), 0)
    pen.text((x, y + 8), label, fill=_INK, font=font, anchor="mt")
  pen.rectangle((*_place(0, 1), *_place(1, 0)), outline=_INK)
  pen.text((_place(0.5, 0)[0], _HEIGHT - 12), axis, fill=_INK, font=font, anchor="ms")
  pen.text((_LEFT, _TOP - 12), title, fill=_INK, font=font, anchor="ls")
