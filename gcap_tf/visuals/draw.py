"""Draws grounded captions: boxes and the words that point at them, with Pillow."""

import io
import math
from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image, ImageDraw

from gcap_tf.visuals import ink

MIN_WIDTH = 480  # smaller pictures are enlarged, so that boxes and captions are readable
CANVAS = (640, 480)  # size of a drawing without a picture
CANVAS_COLOR = (246, 247, 249)
THIN_BELOW = 48  # boxes with a shorter side, in pixels, get a thinner line
MARGIN = 18

Picture = Image.Image | bytes | None
Box = tuple[int, int, int, int]  # pixels of the drawing


def grounded_caption(
  picture: Picture,
  words: Sequence[str],
  boxes_01: np.ndarray,
  grounded: Sequence[bool],
  size: tuple[int, int] | None = None,
  attention: np.ndarray | None = None,
  title: str | None = None,
  regions_01: np.ndarray | None = None,
  labels: Sequence[str] = (),
) -> Image.Image:
  """Draws a picture with a numbered box for each grounded word, and the caption below.

  Words with the same box share its number and colour.

  Args:
    picture: an image, encoded bytes, or None for an empty canvas.
    words: the T words of the caption.
    boxes_01: [T, 4] box of each word, from 0 to 1; ignored if the word is not grounded.
    grounded: [T] whether the word names a thing.
    size: width and height of the picture in the drawing; by default its own, enlarged
      if narrower than 480.
    attention: [T] weight that each word gives to its box, or [T, R], of which the largest
      counts; shown next to the number in percent.
    title: a line above the picture.
    regions_01: [R, 4] all regions, drawn faintly if there is no picture.
    labels: labels of those regions.

  Returns:
    An RGB image.
  """
  boxes_01 = np.asarray(boxes_01, np.float32).reshape(-1, 4)
  numbers = _numbers(boxes_01, grounded, len(words))
  base = _base(picture, size)
  first = {numbers.index(number): number for number in numbers if number is not None}
  boxes = {number: _pixels(boxes_01[index], base.size) for index, number in first.items()}
  weights = _weights(attention, len(words))
  texts = {number: _tag_text(number, weights[index]) for index, number in first.items()}
  on_canvas = picture is None and regions_01 is not None
  if on_canvas:
    _draw_regions(base, regions_01)
  _draw_boxes(base, boxes)
  if on_canvas:
    _label_regions(base, regions_01, labels)
  _draw_tags(base, boxes, texts)
  runs = [
    ink.Run(word)
    if number is None
    else ink.Run(word, ink.palette(number), number + 1)
    for word, number in zip(words, numbers, strict=True)
  ]  # fmt: skip
  return framed(base, runs, title)


def attention_grid(
  picture: Picture,
  words: Sequence[str],
  attention: np.ndarray,
  boxes_01: np.ndarray,
  columns: int = 4,
  panel: tuple[int, int] = (240, 180),
  grounded: Sequence[bool] | None = None,
  title: str | None = None,
) -> Image.Image:
  """Draws one panel per word: its attention as heat over the regions, and the best box.

  Args:
    picture: an image, encoded bytes or None.
    words: the T words.
    attention: [T, R] weights of the regions for each word.
    boxes_01: [R, 4] regions, from 0 to 1.
    columns: panels in a row.
    panel: width and height of the picture in a panel.
    grounded: [T] words to draw in colour; all by default.
    title: a line above the panels.
  """
  boxes_01 = np.asarray(boxes_01, np.float32).reshape(-1, 4)
  attention = np.asarray(attention, np.float32)
  if attention.shape != (len(words), len(boxes_01)):
    raise ValueError(
      f"attention is {attention.shape}; expected ({len(words)} words, {len(boxes_01)} boxes)"
    )
  base = _base(picture, panel)
  marked = [True] * len(words) if grounded is None else grounded
  panels = [
    _attention_panel(base, word, weights, boxes_01, bool(mark))
    for word, weights, mark in zip(words, attention, marked, strict=True)
  ]
  grid = sheet(panels, columns)
  return grid if not title else framed(grid, (), title)


def sheet(images: Sequence[Image.Image], columns: int, gap: int = 14) -> Image.Image:
  """Puts images in rows of `columns` on white, each at the top left of its cell."""
  if not images:
    return Image.new("RGB", (2 * gap, 2 * gap), ink.PAPER)
  columns = max(1, min(columns, len(images)))
  rows = math.ceil(len(images) / columns)
  widths = [max(i.width for i in images[c::columns]) for c in range(columns)]
  heights = [max(i.height for i in images[r * columns : (r + 1) * columns]) for r in range(rows)]
  total = (sum(widths) + gap * (columns + 1), sum(heights) + gap * (rows + 1))
  page = Image.new("RGB", total, ink.PAPER)
  for index, image in enumerate(images):
    row, column = divmod(index, columns)
    x = gap * (column + 1) + sum(widths[:column])
    y = gap * (row + 1) + sum(heights[:row])
    page.paste(image.convert("RGB"), (x, y))
  return page


def _numbers(boxes_01: np.ndarray, grounded: Sequence[bool], count: int) -> list[int | None]:
  """Numbers the boxes of words from 0 in order of first mention; None without a box."""
  seen: dict[bytes, int] = {}
  numbers = []
  for index in range(count):
    if index < len(grounded) and grounded[index] and np.isfinite(boxes_01[index]).all():
      numbers.append(seen.setdefault(boxes_01[index].tobytes(), len(seen)))
    else:
      numbers.append(None)
  return numbers


def _weights(attention: np.ndarray | None, count: int) -> list[float | None]:
  """Returns the weight that each of `count` words gives to its box; None if unknown."""
  if attention is None:
    return [None] * count
  attention = np.asarray(attention, np.float32)
  if attention.ndim > 1:
    attention = attention.max(axis=1, initial=0.0)
  return attention.tolist()


def _base(picture: Picture, size: tuple[int, int] | None) -> Image.Image:
  """Returns the picture at its drawing size, or an empty canvas."""
  if picture is None:
    return _canvas(size or CANVAS)
  if isinstance(picture, bytes):
    picture = Image.open(io.BytesIO(picture))
  picture = picture.convert("RGB")
  if size is None:
    zoom = max(1.0, MIN_WIDTH / picture.width)
    size = (round(picture.width * zoom), max(1, round(picture.height * zoom)))
  return picture.resize(size, Image.Resampling.LANCZOS) if size != picture.size else picture.copy()


def _canvas(size: tuple[int, int]) -> Image.Image:
  canvas = Image.new("RGB", size, CANVAS_COLOR)
  draw = ImageDraw.Draw(canvas)
  for x in range(0, size[0], 40):
    draw.line((x, 0, x, size[1]), fill=(236, 238, 242))
  for y in range(0, size[1], 40):
    draw.line((0, y, size[0], y), fill=(236, 238, 242))
  draw.rectangle((0, 0, size[0] - 1, size[1] - 1), outline=ink.HAIRLINE)
  return canvas


def _draw_regions(base: Image.Image, regions_01: np.ndarray) -> None:
  draw = ImageDraw.Draw(base)
  for box in np.asarray(regions_01).reshape(-1, 4):
    draw.rectangle(_pixels(box, base.size), outline=(188, 194, 204))


def _label_regions(base: Image.Image, regions_01: np.ndarray, labels: Sequence[str]) -> None:
  """Writes the label of each region into its lower right corner."""
  draw = ImageDraw.Draw(base)
  for box, label in zip(np.asarray(regions_01).reshape(-1, 4), labels, strict=False):
    if label:
      _, _, x, y = _pixels(box, base.size)
      place = (max(x - 5, ink.text_width(label, 12) + 4), max(y - 5, 12))
      draw.text(
        place, label, font=ink.font(12), fill=ink.FAINT, anchor="rs",
        stroke_width=2, stroke_fill=CANVAS_COLOR,
      )  # fmt: skip


def _pixels(box_01: np.ndarray, size: tuple[int, int]) -> Box:
  """Converts a box to pixels, clipped to the drawing, each side at least one pixel."""
  width, height = size
  corners = np.clip(np.nan_to_num(box_01), 0, 1) * (width - 1, height - 1, width - 1, height - 1)
  x1, y1, x2, y2 = np.rint(corners).astype(int).tolist()
  (x1, x2), (y1, y2) = sorted((x1, x2)), sorted((y1, y2))
  return x1, y1, min(width - 1, max(x2, x1 + 1)), min(height - 1, max(y2, y1 + 1))


def _draw_boxes(base: Image.Image, boxes: Mapping[int, Box]) -> None:
  """Draws large boxes first, so that small ones stay visible."""
  draw = ImageDraw.Draw(base)

  def area(item: tuple[int, Box]) -> int:
    x1, y1, x2, y2 = item[1]
    return (x2 - x1) * (y2 - y1)

  for number, (x1, y1, x2, y2) in sorted(boxes.items(), key=area, reverse=True):
    width = 2 if min(x2 - x1, y2 - y1) < THIN_BELOW else 3
    ink.outline(draw, (x1, y1, x2, y2), ink.palette(number), width)


def _draw_tags(base: Image.Image, boxes: Mapping[int, Box], texts: Mapping[int, str]) -> None:
  taken: list[tuple[float, float, float, float]] = []
  for number, box in boxes.items():
    _tag(base, box, texts[number], ink.palette(number), taken)


def _tag_text(number: int, weight: float | None) -> str:
  return str(number + 1) if weight is None else f"{number + 1}  {100 * weight:.0f} %"


def _tag(
  base: Image.Image,
  box: Box,
  text: str,
  color: ink.Color,
  taken: list[tuple[float, float, float, float]],
) -> None:
  """Draws the number of a box at its first corner without another number."""
  size, height = 14, 20
  width = max(height, ink.text_width(text, size) + 12)
  x1, y1, x2, y2 = box
  places = [(x, y) for y in (y1 - height / 2, y2 - height / 2) for x in (x1 - 4, x2 + 4 - width)]
  places += [(x1 - 4 + step, y1 - height / 2) for step in range(26, max(27, x2 - x1), 26)]
  spots = []
  for x, y in places:
    x = min(max(x, 2), max(2, base.width - width - 3))
    y = min(max(y, 2), max(2, base.height - height - 3))
    spots.append((x, y, x + width, y + height))
  spot = next((s for s in spots if not any(_touch(s, t) for t in taken)), spots[0])
  taken.append(spot)
  ink.chip(base, spot[0], spot[1], width, height, color, rim=1)
  middle = (spot[0] + width / 2, spot[1] + height / 2)
  ink.centered_text(ImageDraw.Draw(base), *middle, text, size, ink.readable_on(color))


def _touch(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
  return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def framed(base: Image.Image, runs: Sequence[ink.Run], title: str | None) -> Image.Image:
  """Returns a white page with the title above the picture and the words below it."""
  size, room = 21, base.width
  head = 0
  title_runs = ink.wrap([ink.Run(w) for w in (title or "").split()], room, 17)
  if title_runs:
    head = 24 * (title_runs[-1].row + 1) + 8
  placed = ink.wrap(runs, room, size)
  line = 32
  foot = 16 + line * (placed[-1].row + 1) if placed else 0
  page = Image.new(
    "RGB", (base.width + 2 * MARGIN, base.height + head + foot + 2 * MARGIN), ink.PAPER
  )
  page.paste(base, (MARGIN, MARGIN + head))
  draw = ImageDraw.Draw(page)
  for word in title_runs:
    place = (MARGIN + word.x, MARGIN + 17 + 24 * word.row)
    draw.text(place, word.run.text, font=ink.font(17), fill=ink.TEXT, anchor="ls")
  top = MARGIN + head + base.height + 16
  for word in placed:
    _set_word(page, draw, word, MARGIN + word.x, top + line * word.row + 22, size)
  return page


def _set_word(
  page: Image.Image, draw: ImageDraw.ImageDraw, word: ink.Placed, x: float, y: float, size: int
) -> None:
  """Draws a word with its base line at (x, y), after a disc with its number if it has one."""
  run = word.run
  if run.number is not None:
    wide = ink.marker_width(run.number, size)
    disc = wide - size * 0.2
    ink.chip(page, x, y - size * 0.86, disc, size * 0.95, run.color)
    middle = (x + disc / 2, y - size * 0.86 + size * 0.475)
    number_size = round(size * 0.62)
    ink.centered_text(draw, *middle, str(run.number), number_size, ink.readable_on(run.color))
    x += wide
  draw.text((x, y), run.text, font=ink.font(size), fill=run.color, anchor="ls")
  if run.color != ink.TEXT:
    end = x + ink.text_width(run.text, size)
    draw.line((x, y + 5, end, y + 5), fill=run.color, width=2)


def _attention_panel(
  base: Image.Image, word: str, weights: np.ndarray, boxes_01: np.ndarray, marked: bool
) -> Image.Image:
  """Draws a word above the dimmed picture, with its attention as heat and the best box."""
  heat = np.zeros((base.height, base.width), np.float32)
  for weight, box in zip(weights, boxes_01, strict=True):
    x1, y1, x2, y2 = _pixels(box, base.size)
    heat[y1 : y2 + 1, x1 : x2 + 1] += max(0.0, float(np.nan_to_num(weight)))
  top = heat.max(initial=0.0)
  heat = heat / top if top > 0 else heat
  gray = np.asarray(base.convert("L").convert("RGB"), np.float32)
  alpha = 0.25 + 0.5 * heat[..., None]
  mixed = Image.fromarray(
    ((1 - alpha) * gray + alpha * ink.heat_colors(heat)).round().astype(np.uint8)
  )
  color = ink.palette(0)
  if len(weights):
    ink.outline(ImageDraw.Draw(mixed), _pixels(boxes_01[np.argmax(weights)], base.size), color)
  head = 26
  panel = Image.new("RGB", (base.width, base.height + head), ink.PAPER)
  panel.paste(mixed, (0, head))
  draw = ImageDraw.Draw(panel)
  percent = f"{100 * float(np.nan_to_num(weights).max()):.0f} %" if len(weights) else "no region"
  room = base.width - ink.text_width(percent, 13) - 8
  shown = word
  while shown and ink.text_width(shown, 17) > room:
    shown = shown[:-1]
  draw.text((0, 17), shown, font=ink.font(17), fill=color if marked else ink.FAINT, anchor="ls")
  draw.text((base.width - 1, 17), percent, font=ink.font(13), fill=ink.FAINT, anchor="rs")
  return panel
