"""Captions picture files for `trainers.caption`: rows, drawings, and the damaged ones by name."""

import pathlib
import sys
from collections.abc import Sequence

from gcap_tf import answers, api, files, progress
from gcap_tf.vision import pictures


def caption(
  captioner: api.Captioner, places: Sequence[str], decode: api.Decode, draw: str = ""
) -> tuple[list[answers.Answer], int]:
  """Captions the pictures of files and folders, in the order of their ids.

  Args:
    captioner: of photographs.
    places: files and folders.
    decode: how words are chosen.
    draw: folder for a drawing of each answer, ID.png; "" draws none.

  Returns:
    the answers, and the number of files that could not be read. Each of those is named on
    the standard error and passed over.
  """
  found = list(pictures.find(places).values())
  done, damaged = [], 0
  each = captioner.caption_each(found, decode)
  for path, answer in progress.bar(
    zip(found, each, strict=True), label="captioning", unit="picture", total=len(found)
  ):
    if answer.error:
      damaged += 1
      named = answer.error.startswith(str(path))
      print(f"error: {answer.error if named else f'{path}: {answer.error}'}", file=sys.stderr)
      continue
    done.append(answer)
    if draw:
      answer.draw(pathlib.Path(draw) / f"{answer.image_id}.png")
  return done, damaged


def text(answer: answers.Answer) -> str:
  """An answer for people: the caption, then a line for each word with a box, in pixels."""
  lines = [f"{answer.image_id}: {answer.caption or '(no answer)'}"]
  for word, box in zip(answer.words, answer.row()["boxes"], strict=True):
    if word.grounded:
      corners = " ".join(f"{value:5.0f}" for value in box)
      score = "" if word.score is None else f"  {100 * word.score:3.0f} %"
      lines.append(f"  {word.text:14} {corners}{score}")
  return "\n".join(lines)


def write(path: files.PathLike, done: Sequence[answers.Answer]) -> None:
  """Writes the rows of answers."""
  files.write_json(path, [answer.row() for answer in done], indent=1)
