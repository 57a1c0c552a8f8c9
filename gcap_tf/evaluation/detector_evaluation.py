"""Runs a detector over annotated photographs and judges its regions."""

import dataclasses
import pathlib
import time
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import progress
from gcap_tf.metrics import detection
from gcap_tf.vision import annotations, canvas, colour_histogram, detector, pictures

_TIMED = 50


@dataclasses.dataclass(frozen=True)
class Answer:
  """What a detector says about one picture.

  Attributes:
    boxes: [R, 4] regions from 0 to 1, best first.
    scores: [R].
    label_probs, colour_probs: [R, L], [R, C].
    colours_at: [n, C] colours read at the annotated boxes.
  """

  boxes: np.ndarray
  scores: np.ndarray
  label_probs: np.ndarray
  colour_probs: np.ndarray
  colours_at: np.ndarray


def answers(
  model: detector.Detector,
  annotated: Sequence[annotations.Picture],
  paths: Sequence[pathlib.Path],
) -> Iterable[Answer]:
  """Looks at photographs, one by one."""

  @tf.function(reduce_retracing=True)
  def look(placed: tf.Tensor, content: tf.Tensor, boxes: tf.Tensor):
    found = model.detect(placed, content, detection.MANY)
    picture = colour_histogram.small_picture(placed)
    return found, model.head.name_regions(found["maps"], picture, boxes, content)

  for picture, path in progress.bar(
    list(zip(annotated, paths, strict=True)), label="detecting", unit="picture"
  ):
    placed, content = canvas.place(pictures.read(path), model.config.size)
    yield answer(*look(placed[None], content[None], tf.constant(picture.boxes[None])))


def answer(found: dict[str, tf.Tensor], at: dict[str, tf.Tensor]) -> Answer:
  """The answer for one picture: `found` as `detect` gives it, `at` names at annotated boxes."""
  real = found["region_mask"][0].numpy()
  rows = {name: found[name][0].numpy()[real] for name in ("boxes", "scores")}
  names = {name: found[name][0].numpy()[real] for name in ("label_probs", "colour_probs")}
  return Answer(**rows, **names, colours_at=at["colour_probs"][0].numpy())


def judge(picture: annotations.Picture, said: Answer) -> detection.Judged:
  return detection.judge(
    picture.boxes,
    picture.words,
    picture.colours,
    said.boxes,
    said.scores,
    said.label_probs,
    said.colours_at,
  )


def milliseconds(model: detector.Detector, paths: Sequence[pathlib.Path]) -> float:
  """Median time from a picture file to 36 named regions, one picture at a time."""

  @tf.function(reduce_retracing=True)
  def look(placed: tf.Tensor, content: tf.Tensor):
    found = model.detect(placed, content, detection.FEW)
    return {name: value for name, value in found.items() if name != "maps"}

  times = []
  for path in paths[:_TIMED]:
    start = time.perf_counter()
    placed, content = canvas.place(pictures.read(path), model.config.size)
    look(placed[None], content[None])["boxes"].numpy()
    times.append(time.perf_counter() - start)
  return 1000.0 * float(np.median(times[1:] or times))
