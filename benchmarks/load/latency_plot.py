"""Plots latency by concurrency as SVG with logarithmic axes; standard library only."""

import dataclasses
import html
import math
from collections.abc import Sequence

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 30, 55


@dataclasses.dataclass(frozen=True)
class Line:
  """One curve.

  Attributes:
    name: text at the end of the line.
    points: (concurrency, milliseconds).
    color: colour of the line and its name.
    dashed: whether the line is dashed.
  """

  name: str
  points: tuple[tuple[float, float], ...]
  color: str
  dashed: bool = False


def draw(lines: Sequence[Line]) -> str:
  """Returns the plot as SVG text, on white in every colour scheme."""
  xs = sorted({x for line in lines for x, _ in line.points})
  ys = [y for line in lines for _, y in line.points]
  low, high = 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys)))
  ticks = [y * factor for y in _decades(low, high) for factor in (1, 2, 5) if y * factor <= high]

  def place(x: float, y: float) -> tuple[float, float]:
    across = _share(x, xs[0], xs[-1]) * (WIDTH - LEFT - RIGHT)
    up = _share(y, low, high) * (HEIGHT - TOP - BOTTOM)
    return round(LEFT + across, 1), round(HEIGHT - BOTTOM - up, 1)

  parts = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
    'font-family="system-ui, sans-serif" font-size="13" fill="#1d2129">',
    "<title>Latency of one request by the number of requests at once</title>",
    f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
  ]
  for y in ticks:
    left, height = place(xs[0], y)
    right, _ = place(xs[-1], y)
    parts.append(f'<path d="M{left} {height}H{right}" stroke="#e3e7ed"/>')
    parts.append(f'<text x="{left - 8}" y="{height + 4}" text-anchor="end">{y:g}</text>')
  for x in xs:
    left, bottom = place(x, low)
    parts.append(f'<text x="{left}" y="{bottom + 20}" text-anchor="middle">{x:g}</text>')
  parts.append(f'<text x="{LEFT - 8}" y="{TOP - 12}" text-anchor="end">ms</text>')
  middle = (LEFT + WIDTH - RIGHT) / 2
  parts.append(f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">requests at once</text>')
  labels = _spread([place(*line.points[-1])[1] for line in lines])
  for line, height in zip(lines, labels, strict=True):
    points = [place(x, y) for x, y in line.points]
    path = "M" + "L".join(f"{x} {y}" for x, y in points)
    dash = ' stroke-dasharray="6 4"' if line.dashed else ""
    parts.append(f'<path d="{path}" fill="none" stroke="{line.color}" stroke-width="2.5"{dash}/>')
    parts += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{line.color}"/>' for x, y in points]
    name = html.escape(line.name)
    parts.append(
      f'<text x="{points[-1][0] + 12}" y="{height + 4}" fill="{line.color}">{name}</text>'
    )
  return "\n".join([*parts, "</svg>"]) + "\n"


def _share(value: float, low: float, high: float) -> float:
  if low == high:
    return 0.5
  return math.log(value / low) / math.log(high / low)


def _decades(low: float, high: float) -> list[float]:
  return [low * 10**n for n in range(round(math.log10(high / low)) + 1)]


def _spread(heights: list[float], gap: float = 17.0) -> list[float]:
  """Moves labels down until they do not overlap."""
  moved = list(heights)
  last = -math.inf
  for index in sorted(range(len(heights)), key=lambda i: heights[i]):
    moved[index] = last = max(heights[index], last + gap)
  return moved
