"""A grounded sentence on the strip of a segment's frames: every word has its box in every frame."""

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from gcap_tf.visuals import draw, ink

HEIGHT = 150  # of a frame
_GAP = 4


def grounded_strip(
  frames: Sequence[Image.Image],
  words: Sequence[str],
  boxes_01: np.ndarray,
  grounded: Sequence[bool],
) -> Image.Image:
  """Draws frames side by side with a box in the colour of each grounded word, the sentence below.

  Args:
    frames: F pictures of one size.
    words: the T words.
    boxes_01: [T, F, 4] from 0 to 1; a box of zeros is not drawn.
    grounded: [T] whether a word names a thing.
  """
  width = round(frames[0].width * HEIGHT / frames[0].height)
  base = Image.new("RGB", (len(frames) * (width + _GAP) - _GAP, HEIGHT), ink.PAPER)
  pen = ImageDraw.Draw(base)
  numbers = {n: number for number, n in enumerate(n for n, thing in enumerate(grounded) if thing)}
  for at, frame in enumerate(frames):
    left = at * (width + _GAP)
    base.paste(frame.convert("RGB").resize((width, HEIGHT)), (left, 0))
    for n, number in numbers.items():
      if boxes_01[n][at].any():
        box = boxes_01[n][at] * [width, HEIGHT, width, HEIGHT] + [left, 0, left, 0]
        ink.outline(pen, box.tolist(), ink.palette(number), 2)
  runs = [
    ink.Run(word, ink.palette(numbers[n]), numbers[n] + 1) if n in numbers else ink.Run(word)
    for n, word in enumerate(words)
  ]
  return draw.framed(base, runs, None)


def cut(strip: Image.Image, frames: int) -> list[Image.Image]:
  """The frames of a strip."""
  width = strip.width // frames
  return [strip.crop((n * width, 0, (n + 1) * width, strip.height)) for n in range(frames)]
