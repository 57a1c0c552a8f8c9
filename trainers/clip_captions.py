"""Captions clips for `trainers.caption`: rows, strips and pages; damaged clips by name."""

import pathlib
import sys
from collections.abc import Sequence

from gcap_tf import errors, files, progress
from gcap_tf.evaluation import clip_captioning
from trainers.gallery import clip_page


def caption(
  captioner: clip_captioning.ClipCaptioner, places: Sequence[str], draw: str = ""
) -> tuple[list[clip_captioning.ClipAnswer], int]:
  """Captions clips, in the order given.

  Args:
    captioner: of videos.
    places: files, and folders of frames.
    draw: folder for ID.png, a strip of frames, and ID.html, which plays it; "" draws none.

  Returns:
    the answers, and the number of clips that could not be read. Each of those is named on the
    standard error and passed over.
  """
  done, problems = [], []
  for place in progress.bar(places, label="captioning", unit="clip"):
    try:
      answer = captioner.caption(place)
    except errors.UserError as error:
      problems.append(str(error))
      continue
    done.append(answer)
    if draw:
      path = pathlib.Path(draw) / f"{answer.clip.name}.png"
      with files.atomic_path(path) as partial, open(partial, "wb") as file:
        answer.strip().save(file, "PNG")
      files.write_text(path.with_suffix(".html"), clip_page.page(answer))
  for problem in problems:
    print(f"error: {problem}", file=sys.stderr)
  return done, len(problems)


def text(answer: clip_captioning.ClipAnswer) -> str:
  """An answer for people: the caption, then for each word with boxes those of first and last."""
  lines = [f"{answer.clip.name}: {answer.answer.caption or '(no answer)'}"]
  boxes_px = answer.answer.frame_boxes_px
  for word, boxes, thing in zip(answer.answer.words, boxes_px, answer.grounded, strict=True):
    if thing:
      ends = [" ".join(f"{value:5.0f}" for value in boxes[frame]) for frame in (0, -1)]
      lines.append(f"  {word:14} {ends[0]}  to {ends[1]}")
  return "\n".join(lines)
