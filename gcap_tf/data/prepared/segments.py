"""What a record of a video has besides a picture's fields, in the feature map of an example."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from gcap_tf.data import records
from gcap_tf.data.prepared import example_fields

_PLACES = 3  # frame, number, crowd


def encode(out: example_fields.FeatureWriter, record: records.Record) -> None:
  """Writes the segment, and the frames of boxes."""
  segment = record.segment
  out.text("segment/video", [segment.video])
  out.text("segment/name", [segment.name])
  out.integers("segment/numbers", [segment.number, segment.count, segment.frames])
  out.floats("segment/times", [np.array([segment.start, segment.end, segment.duration])])
  out.integers("segment/dropped", segment.dropped)
  out.integers("annotated/frame", [thing.frame for thing in record.annotated])
  words = [word.frame_boxes for caption in record.captions for word in caption.objects]
  boxes = list(itertools.chain.from_iterable(words))
  out.integers("objects/frame_count", map(len, words))
  out.integers(
    "objects/frame_places",
    [value for box in boxes for value in (box.frame, box.number, int(box.crowd))],
  )
  out.floats("objects/frame_boxes", [box.box_px for box in boxes])


def decode(found: example_fields.FeatureReader) -> records.Segment | None:
  """The segment; None if the record is a picture."""
  if not found.has("segment/video"):
    return None
  number, count, frames = found.integers("segment/numbers")
  start, end, duration = found.floats("segment/times").tolist()
  return records.Segment(
    found.text("segment/video")[0],
    found.text("segment/name")[0],
    number,
    count,
    start,
    end,
    duration,
    frames,
    tuple(found.integers("segment/dropped")),
  )


def frame_of_regions(found: example_fields.FeatureReader) -> np.ndarray | None:
  """[R] int32; None if all regions are of frame 0."""
  if not found.has("regions/frame"):
    return None
  return np.array(found.integers("regions/frame"), np.int32)


def with_frames(
  found: example_fields.FeatureReader, captions: Sequence[records.Caption]
) -> tuple[records.Caption, ...]:
  """The captions with the boxes of their words in frames, if the record has some."""
  counts = iter(found.integers("objects/frame_count"))
  if not found.has("objects/frame_places"):
    return tuple(captions)
  places = np.reshape(found.integers("objects/frame_places"), (-1, _PLACES)).tolist()
  rows = zip(places, found.floats("objects/frame_boxes").reshape(-1, 4), strict=True)
  boxes = iter([records.FrameBox(f, box, n, bool(crowd)) for (f, n, crowd), box in rows])

  def placed(word: records.ObjectWord) -> records.ObjectWord:
    own = tuple(itertools.islice(boxes, next(counts)))
    return dataclasses.replace(word, frame_boxes=own)

  return tuple(
    dataclasses.replace(caption, objects=tuple(placed(word) for word in caption.objects))
    for caption in captions
  )
