"""Simulated detectors over the frames of a video: those of `simulated_detector`, frame by frame.

Regions of all frames stand one after the other and know their frame. The noisy detector gives every
frame a feature as well, its mean region and how that changed since the frame before:

    f_j = [mean_r v_{j,r}; mean_r v_{j,r} - mean_r v_{j-1,r}]

A picture is one frame and has no such feature.
"""

import dataclasses

import numpy as np

from gcap_tf.data import records
from gcap_tf.data.stores import simulated_detector


def perfect(record: records.Record, max_regions: int | None = None) -> records.Regions:
  """One region for every annotated box and word of every frame."""
  if record.segment is None:
    return simulated_detector.perfect(record, max_regions)
  return _joined([simulated_detector.perfect(frame, max_regions) for frame in frames(record)])


def noisy(record: records.Record, config: simulated_detector.NoisyConfig) -> records.Regions:
  """N proposals a frame, and the features of frames."""
  if record.segment is None:
    return simulated_detector.noisy(record, config)
  found = [simulated_detector.noisy(frame, config) for frame in frames(record)]
  mean = np.array([regions.features.mean(0) for regions in found])  # [F, D]
  grid = np.concatenate([mean, np.diff(mean, axis=0, prepend=mean[:1])], 1)
  return dataclasses.replace(
    _joined(found), grid_features=grid, global_feature=grid.mean(0), span=(0, len(grid))
  )


def frames(record: records.Record) -> list[records.Record]:
  """Every frame of a segment as a picture, with what is annotated in it."""
  return [_frame(record, number) for number in range(record.frames)]


def _frame(record: records.Record, number: int) -> records.Record:
  def here(word: records.ObjectWord) -> list[records.ObjectWord]:
    boxes = [box for box in word.frame_boxes if box.frame == number]
    return [records.ObjectWord(word.index, word.name, box.box_px) for box in boxes]

  return dataclasses.replace(
    record,
    image_id=f"{record.image_id}/{number}",
    annotated=tuple(thing for thing in record.annotated if thing.frame == number),
    captions=tuple(
      dataclasses.replace(
        caption, objects=tuple(found for word in caption.objects for found in here(word))
      )
      for caption in record.captions
    ),
    segment=None,
  )


def _joined(found: list[records.Regions]) -> records.Regions:
  def rows(name: str) -> np.ndarray | None:
    parts = [getattr(regions, name) for regions in found]
    return None if parts[0] is None else np.concatenate(parts)

  counts = [regions.count for regions in found]
  return records.Regions(
    boxes_px=rows("boxes_px"),
    features=rows("features"),
    labels=tuple(label for regions in found for label in regions.labels),
    scores=rows("scores"),
    frame=np.repeat(np.arange(len(found)), counts).astype(np.int32),
  )
