"""Recall of other programs' detectors; their labels are not those that people used."""

import time

import numpy as np

from gcap_tf import files, progress
from gcap_tf.metrics import detection
from gcap_tf.runs import detector_runs
from gcap_tf.text import object_words
from gcap_tf.vision import annotated_pictures, pictures
from gcap_tf.vision.detectors import catalog

_NO_CLASSES = object_words.ObjectClasses(["-"])  # No phrase has such a word.


def evaluate(
  name: str,
  source: files.PathLike,
  folder: files.PathLike,
  split: str,
  max_pictures: int = 0,
) -> dict[str, float]:
  """Judges the detector `PREFIX:WHAT`, or several joined by "+".

  Args:
    name: as `--detector` says it.
    source: folder of Flickr30k Entities.
    folder: of photographs.
    split: its name.
    max_pictures: at most so many; 0 takes all.
  """
  detector = catalog.open_detector(name, open_run=detector_runs.load)
  annotated, paths = annotated_pictures.read(
    source, folder, split, _NO_CLASSES, max_pictures=max_pictures
  )
  judged, times = [], []
  pairs = [pair for pair in zip(annotated, paths, strict=True) if len(pair[0].boxes)]
  for picture, path in progress.bar(pairs, label="detecting", unit="picture"):
    start = time.perf_counter()
    found = detector.detect(pictures.read(path), picture.image_id)
    times.append(time.perf_counter() - start)
    n, r = len(picture.boxes), len(found.boxes)
    judged.append(
      detection.judge(
        picture.boxes,
        np.zeros((n, 1)),
        np.zeros((n, 1)),
        found.boxes,
        found.scores,
        np.zeros((r, 1)),
        np.zeros((n, 1)),
      )
    )
  took = 1000.0 * float(np.median(times[1:] or times))
  return detection.figures(judged) | {"milliseconds_per_picture": took}
