"""One page of captioned photographs that needs no server, no script and no network.

A photograph is a file beside the page; boxes and attention lie over it, and light up when a word
or a box is pointed at (CSS `:has`).
"""

# bazel: data = ["page.css"]

import html
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image

from gcap_tf import files
from serving.wire import answers, picture_files
from trainers.gallery import heat

WIDEST = 1280  # of a photograph on the page
COLORS = 7
MOST_WORDS = 40
_STYLE = pathlib.Path(__file__).with_name("page.css")


def write(
  folder: pathlib.Path,
  found: Mapping[str, pathlib.Path],
  answered: Sequence[answers.GroundedCaption],
  text: str,
  commands: Sequence[tuple[str, str]],
) -> None:
  """Writes `index.html` and the photographs that it shows.

  Args:
    folder: where to write.
    found: title -> photograph.
    answered: in the same order; damaged photographs are left out.
    text: explanation at the top of the page.
    commands: what to try next: (command, what it does).
  """
  rows = [
    (title, path, answer)
    for (title, path), answer in zip(found.items(), answered, strict=True)
    if not answer.error
  ]
  rows.sort(key=lambda row: _interest(row[2]), reverse=True)
  figures = [_figure(folder, number, *row) for number, row in enumerate(rows)]
  nexts = "".join(
    f"<dt><code>{html.escape(command)}</code></dt><dd>{html.escape(what)}</dd>"
    for command, what in commands
  )
  style = _STYLE.read_text(encoding="utf-8") + _word_rules()
  files.write_text(
    folder / "index.html",
    f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Grounded captions</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'">
<style>{style}</style></head>
<body>
<header><h1>A photograph in, a grounded caption out</h1>
<p>{html.escape(" ".join(text.split()))}</p></header>
<main>{"".join(figures)}</main>
<section><h2>What to try next</h2><dl>{nexts}</dl></section>
</body></html>
""",
  )


def _interest(answer: answers.GroundedCaption) -> float:
  """Photographs with several sure boxes go first."""
  things = answer.pointing()
  scores = np.ones(len(answer.words)) if answer.word_scores is None else answer.word_scores
  distinct = {tuple(box) for box in answer.boxes[things].tolist()}
  return len(distinct) + float(scores[things].sum()) / 10


def _figure(
  folder: pathlib.Path, number: int, title: str, path: pathlib.Path, answer: answers.GroundedCaption
) -> str:
  picture = picture_files.upright(path.read_bytes(), str(path))
  picture.thumbnail((WIDEST, WIDEST), Image.Resampling.LANCZOS)
  name = f"photograph_{number + 1:02d}.jpg"
  with files.atomic_path(folder / name) as partial:
    picture.save(partial, "JPEG", quality=90)
  numbers = _numbers(answer)
  aspect = picture.width / picture.height
  layers = "".join(
    f'<img class="heat h{slot}" alt="" src="{_heat(answer, slot, aspect)}">'
    for slot in range(len(answer.words))
    if answer.grounded[slot] and answer.seen is not None and len(answer.seen.boxes)
  )
  boxes = "".join(_box(answer, numbers, box_number) for box_number in range(max(numbers) + 1))
  words = " ".join(_word(answer, slot, numbers[slot]) for slot in range(len(answer.words)))
  said = words or "<em>No caption: the model knows nothing in this picture.</em>"
  share = min(0.66, 0.5 * aspect)  # of the width that the first photograph takes
  return f"""
<figure class="{"hero" if number == 0 else "card"}" style="--share: {share:.3f}">
<div class="stage" style="aspect-ratio: {aspect:.4f}">
<img src="{name}" alt="{html.escape(title)}">{layers}{boxes}</div>
<figcaption>{said}</figcaption></figure>"""


def _numbers(answer: answers.GroundedCaption) -> list[int]:
  """Number of the box of each word, counted from 0 in order of first mention; -1 for none."""
  seen: dict[bytes, int] = {}
  return [
    seen.setdefault(answer.boxes[slot].tobytes(), len(seen)) if points else -1
    for slot, points in enumerate(answer.pointing())
  ] or [-1]


def _heat(answer: answers.GroundedCaption, slot: int, aspect: float) -> str:
  return heat.data_uri(heat.layer(answer.attention[slot], answer.seen.boxes, aspect))


def _box(answer: answers.GroundedCaption, numbers: Sequence[int], number: int) -> str:
  slots = [slot for slot, found in enumerate(numbers) if found == number]
  x1, y1, x2, y2 = (100 * np.clip(answer.boxes[slots[0]], 0, 1)).tolist()
  place = f"left:{x1:.2f}%;top:{y1:.2f}%;width:{x2 - x1:.2f}%;height:{y2 - y1:.2f}%"
  names = html.escape(", ".join(dict.fromkeys(answer.words[slot] for slot in slots)))
  marks = " ".join(f"b{slot}" for slot in slots)
  kind = f"box {marks} c{number % COLORS}" + (" inside" if y1 < 6 else "")
  return f'<div class="{kind}" style="{place}"><span>{names}</span></div>'


def _word(answer: answers.GroundedCaption, slot: int, number: int) -> str:
  word = html.escape(answer.words[slot])
  if not answer.grounded[slot]:
    return word
  score = answer.word_scores[slot] if answer.word_scores is not None else None
  sure = "" if score is None else f"<small>{100 * score:.0f} %</small>"
  kind = f"thing c{number % COLORS}" if number >= 0 else "unsure"
  return f'<b class="{kind} w{slot}" tabindex="0">{word}{sure}</b>'


def _word_rules() -> str:
  """One rule a slot: pointing at its word or its box lights the box and its attention."""
  rules = []
  for slot in range(MOST_WORDS):
    pointed = f"figure:has(.w{slot}:is(:hover, :focus-visible))"
    rules.append(f"{pointed} .h{slot} {{ opacity: 1; }}")
    rules.append(f"{pointed} .box:not(.b{slot}) {{ opacity: 0; }}")
    rules.append(f"figure:has(.b{slot}:hover) .w{slot} {{ background: var(--lit); }}")
  return "\n".join(rules)
