"""Simulated detectors over the frames of a video: those of `simulated_detector`, frame by frame.

The noisy detector gives every frame a feature as well (`frame_regions`), of its mean region. A
picture is one frame and has no such feature.
"""

import dataclasses

import numpy as np

from gcap_tf.data import frame_regions, records
from gcap_tf.data.stores import simulated_detector


def perfect(record: records.Record, max_regions: int | None = None) -> records.Regions:
  """One region for every annotated box and word of every frame."""
  if record.segment is None:
    return simulated_detector.perfect(record, max_regions)
  return frame_regions.joined(
    [simulated_detector.perfect(frame, max_regions) for frame in frames(record)]
  )


def noisy(record: records.Record, config: simulated_detector.NoisyConfig) -> records.Regions:
  """N proposals a frame, and the features of frames."""
  if record.segment is None:
    return simulated_detector.noisy(record, config)
  found = [simulated_detector.noisy(frame, config) for frame in frames(record)]
  mean = np.array([regions.features.mean(0) for regions in found])  # [F, D]
  return frame_regions.with_frame_features(frame_regions.joined(found), mean)


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
