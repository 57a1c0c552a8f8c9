"""Judges and draws a detector's regions while it is trained, on cached maps."""

import pathlib
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gcap_tf.evaluation import detector_evaluation
from gcap_tf.metrics import detection
from gcap_tf.vision import annotations, detector, map_cache
from gcap_tf.visuals import region_pictures

SHOWN = 4  # pictures of the split, always the first ones


class Validation:
  """A split to validate on.

  Args:
    model: what is trained.
    cache: maps of the pictures, in their order.
    pictures: annotated pictures.
    paths: of their files.
    labels: the words that the head knows.
  """

  def __init__(
    self,
    model: detector.Detector,
    cache: map_cache.MapCache,
    pictures: Sequence[annotations.Picture],
    paths: Sequence[pathlib.Path],
    labels: Sequence[str],
  ):
    self._model, self._cache = model, cache
    self._pictures, self._paths, self._labels = pictures, paths, labels
    self._answers: list[detector_evaluation.Answer] = []
    self._look = tf.function(self._find, reduce_retracing=True)

  def judge(self) -> dict[str, float]:
    """Figures as `trainers.evaluate_detector` prints them, without the time."""
    judged, self._answers = [], []
    for row, picture in enumerate(self._pictures):
      if not len(picture.boxes):
        continue
      batch = self._cache.read(np.array([row]), np.array([0]))
      said = detector_evaluation.answer(*self._look(batch, tf.constant(picture.boxes[None])))
      judged.append(detector_evaluation.judge(picture, said))
      if len(self._answers) < SHOWN:
        self._answers.append(said)
    return detection.figures(judged)

  def draw(self) -> dict[str, np.ndarray]:
    """The first pictures with their regions and annotated boxes, of the last `judge`."""
    with_boxes = [
      pair for pair in zip(self._pictures, self._paths, strict=True) if len(pair[0].boxes)
    ]
    return {
      f"regions/{picture.image_id}": np.asarray(
        region_pictures.of_answer(path, said, self._labels, picture.boxes)
      )
      for said, (picture, path) in zip(self._answers, with_boxes, strict=False)
    }

  def _find(self, batch: dict[str, tf.Tensor], boxes: tf.Tensor):
    maps, content = self._model.maps(map_cache.maps_of(batch)), batch["content"]
    small = tf.cast(batch["picture"], tf.float32)
    found = self._model.head.propose(maps, content, detection.MANY)
    found |= self._model.head.name_regions(maps, small, found["boxes"], content)
    return found, self._model.head.name_regions(maps, small, boxes, content)
