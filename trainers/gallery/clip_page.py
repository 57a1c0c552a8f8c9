"""A page that plays the frames of a captioned clip; it needs no server, no script and no network.

The frames follow each other above, and stand side by side below. Every word that names a thing has
a box in every frame; pointing at the word leaves only its own boxes, in all frames (CSS `:has`).
"""

import base64
import html
import io
import pathlib

import numpy as np
from PIL import Image

from gcap_tf.evaluation import clip_captioning
from trainers.gallery import pages

SECONDS = 0.5  # of a frame
WIDEST, WIDEST_OF_STRIP = 960, 240  # pixels
_STYLE = pathlib.Path(__file__).with_name("page.css")
_PLAYER = """
main { columns: 1; }
figure { overflow: visible; }
.film .frame {
  position: absolute; inset: 0; opacity: 0; animation: play var(--all) step-end infinite;
}
.frame > img { width: 100%; height: 100%; display: block; }
.strip { display: flex; gap: 4px; padding: 4px; }
.strip .frame { position: relative; flex: 1; }
.strip .box { border-width: 2px; }
.strip .box span { display: none; }
figure:has(.stop:checked) .film .frame { animation-play-state: paused; }
label { padding: 0 1.4rem; color: var(--faint); }
"""


def page(answer: clip_captioning.ClipAnswer) -> str:
  """The HTML of one clip."""
  words, frames = answer.answer.words, answer.clip.frames
  things = [slot for slot, thing in enumerate(answer.grounded) if thing]
  numbers = {slot: number for number, slot in enumerate(things)}
  film, strip = [], []
  for at, frame in enumerate(frames):
    boxes = "".join(
      _box(words[slot], slot, numbers[slot], answer.boxes_01[slot, at])
      for slot in things
      if answer.boxes_01[slot, at].any()
    )
    name = f"frame {at + 1} of {len(frames)}"
    delay = f"animation-delay: {at * SECONDS:g}s"
    film.append(
      f'<div class="frame" style="{delay}"><img alt="{name}" src="{_uri(frame, WIDEST)}">'
      f"{boxes}</div>"
    )
    strip.append(
      f'<div class="frame"><img alt="{name}" src="{_uri(frame, WIDEST_OF_STRIP)}">{boxes}</div>'
    )
  share, seconds = 100 / len(frames), SECONDS * len(frames)
  width, height = answer.clip.size
  play = f"@keyframes play {{ 0% {{ opacity: 1; }} {share:.4f}% {{ opacity: 0; }} }}"
  said = " ".join(_word(word, slot, numbers.get(slot)) for slot, word in enumerate(words))
  name = html.escape(answer.clip.name)
  return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>{_STYLE.read_text(encoding="utf-8")}{_PLAYER}{play}
:root {{ --all: {seconds:g}s; }}
{_rules(things)}</style></head>
<body>
<header><h1>{name}</h1><p>{len(frames)} of {answer.clip.count} frames. Point at a word: its box
lights up in every frame.</p></header>
<main><figure>
<div class="stage film" style="aspect-ratio: {width / height:.4f}">{"".join(film)}</div>
<figcaption>{said or "<em>No caption: the model knows nothing in this clip.</em>"}</figcaption>
<div class="strip">{"".join(strip)}</div>
<label><input type="checkbox" class="stop"> Stop</label>
</figure></main>
</body></html>
"""


def _word(word: str, slot: int, number: int | None) -> str:
  if number is None:
    return html.escape(word)
  return f'<b class="thing c{number % pages.COLORS} w{slot}" tabindex="0">{html.escape(word)}</b>'


def _box(word: str, slot: int, number: int, box_01: np.ndarray) -> str:
  x1, y1, x2, y2 = (100 * np.clip(box_01, 0, 1)).tolist()
  place = f"left:{x1:.2f}%;top:{y1:.2f}%;width:{x2 - x1:.2f}%;height:{y2 - y1:.2f}%"
  inside = " inside" if y1 < 6 else ""
  return (
    f'<div class="box b{slot} c{number % pages.COLORS}{inside}" style="{place}">'
    f"<span>{html.escape(word)}</span></div>"
  )


def _rules(things: list[int]) -> str:
  """Pointing at a word hides the boxes of others, in every frame."""
  pointed = "figure:has(.w{0}:is(:hover, :focus-visible))"
  return "\n".join(
    f"{pointed.format(slot)} .box:not(.b{slot}) {{ opacity: 0; }}\n"
    f"{pointed.format(slot)} .b{slot} {{ background: var(--lit); }}"
    for slot in things
  )


def _uri(frame: np.ndarray, widest: int) -> str:
  """A frame as an address that holds all of it."""
  picture = Image.fromarray(frame)
  picture.thumbnail((widest, widest), Image.Resampling.LANCZOS)
  encoded = io.BytesIO()
  picture.save(encoded, "JPEG", quality=85)
  return f"data:image/jpeg;base64,{base64.b64encode(encoded.getvalue()).decode()}"
