"""Figures of a detector on a split, and a page of its best and worst pictures."""

import html
import pathlib
from collections.abc import Sequence

import numpy as np

from gcap_tf import files
from gcap_tf.evaluation import detector_evaluation, foreign_detector
from gcap_tf.metrics import detection
from gcap_tf.runs import detector_runs
from gcap_tf.text import object_words
from gcap_tf.vision import annotated_pictures, annotations
from gcap_tf.vision.detectors import catalog
from gcap_tf.visuals import region_pictures

DRAWN = 20


def evaluate(
  run: files.PathLike,
  source: files.PathLike,
  pictures: files.PathLike,
  split: str,
  max_pictures: int = 0,
  draw: files.PathLike | None = None,
) -> dict[str, float]:
  """Judges the detector of a run, the shipped one, or another program's.

  Args:
    run: folder, "shipped", or `PREFIX:WHAT` of another detector.
    source: folder of Flickr30k Entities.
    pictures: folder of photographs.
    split: its name.
    max_pictures: at most so many; 0 takes all.
    draw: folder for pictures, see `draw_extremes`.
  """
  if catalog.is_foreign(str(run)):
    return foreign_detector.evaluate(str(run), source, pictures, split, max_pictures)
  found = detector_runs.load(run)
  classes = object_words.ObjectClasses(found.labels)
  annotated, paths = annotated_pictures.read(
    source, pictures, split, classes, max_pictures=max_pictures
  )
  kept = [number for number, picture in enumerate(annotated) if len(picture.boxes)]
  annotated, paths = [annotated[n] for n in kept], [paths[n] for n in kept]
  said = list(detector_evaluation.answers(found.detector, annotated, paths))
  judged = [
    detector_evaluation.judge(picture, answer)
    for picture, answer in zip(annotated, said, strict=True)
  ]
  if draw:
    draw_extremes(pathlib.Path(draw), annotated, paths, said, judged, found.labels)
  took = detector_evaluation.milliseconds(found.detector, paths)
  return detection.figures(judged) | {"milliseconds_per_picture": took}


def draw_extremes(
  folder: pathlib.Path,
  annotated: Sequence[annotations.Picture],
  paths: Sequence[pathlib.Path],
  said: Sequence[detector_evaluation.Answer],
  judged: Sequence[detection.Judged],
  labels: Sequence[str],
) -> None:
  """Writes `index.html` and the 20 best and 20 worst pictures, by their mean best overlap."""
  overlaps = np.array([picture.best_few.mean() for picture in judged])
  order = np.argsort(-overlaps, kind="stable")
  worst = order[DRAWN:][::-1][:DRAWN]
  rows = []
  for kind, numbers in (("best", order[:DRAWN]), ("worst", worst)):
    rows.append(f"<h2>The {len(numbers)} {kind}</h2>")
    for place, number in enumerate(numbers, 1):
      name = f"{kind}_{place:02d}_{annotated[number].image_id}.png"
      recall = 100 * np.mean(judged[number].best_few > detection.OVERLAP)
      title = (
        f"{annotated[number].image_id}: {recall:.0f} % of {len(annotated[number].boxes)} found"
      )
      image = region_pictures.of_answer(
        paths[number], said[number], labels, annotated[number].boxes, title
      )
      with files.atomic_path(folder / name) as partial, partial.open("wb") as file:
        image.save(file, "PNG")
      rows.append(f'<img src="{html.escape(name)}" alt="{html.escape(title)}">')
  legend = "Regions in colour, with word, colour and score; annotated boxes in black and white."
  head = "<!doctype html><meta charset=utf-8><title>Regions</title><style>img{margin:4px}</style>"
  files.write_text(folder / "index.html", "\n".join([head, f"<p>{legend}</p>", *rows, ""]))
