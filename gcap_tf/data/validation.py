"""Checks that a record is consistent, before anything is written or trained on.

A fault is a `UserError` that names the place, the picture and what to do.
"""

import itertools
from collections.abc import Iterable

import numpy as np

from gcap_tf import errors
from gcap_tf.data import records

# Detectors count the last pixel in or out; a box may reach one pixel over the edge.
EDGE_PX = 1.0


def check_record(record: records.Record, where: str) -> None:
  """Checks a picture with its captions, annotations and regions.

  Args:
    record: what to check.
    where: the dataset or file that it came from.

  Raises:
    UserError: at the first fault found.
  """
  if not record.image_id:
    raise errors.UserError(f"{where}: a picture without id; every picture needs one")
  here = f"{where}: picture {record.image_id}"
  if not record.split:
    raise errors.UserError(f'{here}: no split; say "train", "val" or "test"')
  if record.width < 0 or record.height < 0 or (record.width > 0) != (record.height > 0):
    raise errors.UserError(
      f"{here}: size {record.width} x {record.height}; expected pixels, or 0 x 0 if unknown"
    )
  if not record.captions and record.segment is None:
    raise errors.UserError(f"{here}: no caption; give it one or leave the picture out")
  seen = set()
  for caption in record.captions:
    if caption.caption_id in seen:
      raise errors.UserError(f"{here}: caption id {caption.caption_id!r} is used twice")
    seen.add(caption.caption_id)
    _check_caption(
      caption, f"{here}, caption {caption.caption_id}", any_case=record.segment is not None
    )
  # Boxes of a video are in pixels of a frame whose height the dataset may not say.
  size = (record.width, record.height) if record.segment is None else (0, 0)
  of_video = record.segment is not None
  check_boxes(_annotated_boxes(record), here, *size, "annotated box", allow_empty=of_video)
  if record.regions is not None:
    check_regions(record.regions, here, *size)
  if record.segment is not None:
    check_frames(record, here)


def check_frames(record: records.Record, where: str) -> None:
  """Checks that a segment lies in its video, and every box in one of its frames."""
  segment, regions = record.segment, record.regions
  if segment.duration and segment.start > segment.duration:
    raise errors.UserError(
      f"{where}: it starts at {segment.start:g} s, its video ends at {segment.duration:g} s; "
      "correct its times"
    )
  placed = [
    (f'box of "{caption.tokens[word.index]}"', box.frame)
    for caption in record.captions
    for word in caption.objects
    for box in word.placed
  ]
  placed += [(f"annotated box {n}", thing.frame) for n, thing in enumerate(record.annotated)]
  if regions is not None and regions.frame is not None:
    placed += [(f"region {n}", frame) for n, frame in enumerate(regions.frame.tolist())]
  for what, frame in placed:
    if not 0 <= frame < segment.frames:
      raise errors.UserError(
        f"{where}: {what} is in frame {frame}; expected 0 to {segment.frames - 1}: correct it"
      )


def check_regions(regions: records.Regions, where: str, width: int = 0, height: int = 0) -> None:
  """Checks features, boxes, labels and scores of a picture's regions; none is allowed.

  Args:
    regions: what to check.
    where: file and picture.
    width: of the picture in pixels, 0 if unknown.
    height: likewise.
  """
  counts = {
    name: len(rows)
    for name, rows in (
      ("boxes", regions.boxes_px),
      ("features", regions.features),
      ("scores", regions.scores),
      ("labels", regions.labels or None),
      ("colours", regions.colours or None),
      ("position blocks", regions.position_blocks),
      ("frames", regions.frame),
    )
    if rows is not None
  }
  if len(set(counts.values())) > 1:
    listed = ", ".join(f"{count} {name}" for name, count in counts.items())
    raise errors.UserError(f"{where}: {listed}; expected one of each per region: extract it again")
  if regions.features is not None:
    if regions.features.ndim != 2:
      raise errors.UserError(
        f"{where}: features of shape {list(regions.features.shape)}; expected [regions, size]"
      )
    check_finite(regions.features, where, "feature")
  if regions.global_feature is not None:
    if regions.global_feature.ndim != 1:
      raise errors.UserError(
        f"{where}: global feature of shape {list(regions.global_feature.shape)}; expected [size]"
      )
    check_finite(regions.global_feature[None], where, "global feature")
  if regions.grid_features is not None:
    if regions.grid_features.ndim != 2:
      raise errors.UserError(
        f"{where}: grid of shape {list(regions.grid_features.shape)}; expected [cells, size]"
      )
    check_finite(regions.grid_features, where, "grid cell")
  if regions.position_blocks is not None:
    check_finite(regions.position_blocks, where, "position block")
  if regions.scores is not None:
    check_finite(regions.scores[:, None], where, "score")
  if regions.boxes_px is not None:
    check_boxes(regions.boxes_px, where, width, height, "box of region")


def check_boxes(
  boxes_px: np.ndarray,
  where: str,
  width: int = 0,
  height: int = 0,
  what: str = "box",
  allow_empty: bool = False,
) -> None:
  """Checks that boxes are finite, have an area and lie in the picture.

  Args:
    boxes_px: [n, 4].
    where: file and picture.
    width: of the picture in pixels, 0 if unknown.
    height: likewise.
    what: the name of a box in errors.
    allow_empty: a box may have no area (annotated ones of videos do); no region meets it.
  """
  if boxes_px.ndim != 2 or boxes_px.shape[1] != 4:
    raise errors.UserError(
      f"{where}: boxes of shape {list(boxes_px.shape)}; expected [boxes, 4]: x1, y1, x2, y2"
    )
  check_finite(boxes_px, where, what)
  empty = (boxes_px[:, 2:] <= boxes_px[:, :2]).any(axis=1)
  if empty.any() and not allow_empty:
    row = int(np.argmax(empty))
    raise errors.UserError(
      f"{where}: {what} {row} has no area {_shown(boxes_px[row])}; "
      "expected x1 < x2 and y1 < y2: correct or remove it"
    )
  limits = np.array([width, height] if width else [np.inf, np.inf]) + EDGE_PX
  outside = (boxes_px[:, :2] < -EDGE_PX).any(axis=1) | (boxes_px[:, 2:] > limits).any(axis=1)
  if outside.any():
    row = int(np.argmax(outside))
    size = f" of {width} x {height} pixels" if width else ""
    raise errors.UserError(
      f"{where}: {what} {row} is outside the picture{size} {_shown(boxes_px[row])}; "
      "expected pixels of the original picture: was it resized?"
    )


def check_finite(rows: np.ndarray, where: str, what: str) -> None:
  """Checks that [n, ...] rows hold neither NaN nor infinity."""
  # The sum of finite float32 values overflows only far beyond any feature: one fast pass.
  with np.errstate(over="ignore", invalid="ignore"):
    if np.isfinite(rows.sum()):
      return
  bad = ~np.isfinite(rows).reshape(len(rows), -1).all(axis=1)
  if bad.any():
    raise errors.UserError(
      f"{where}: {what} {int(np.argmax(bad))} is not a finite number; extract it again"
    )


def _check_caption(caption: records.Caption, here: str, any_case: bool = False) -> None:
  tokens = caption.tokens
  if not tokens:
    raise errors.UserError(f"{here}: no words; remove the caption")
  for token in tokens:
    if not token or len(token.split()) != 1 or not (any_case or token == token.lower()):
      raise errors.UserError(
        f"{here}: token {token!r}; expected lower-case words without white space"
      )
  if caption.tags and len(caption.tags) != len(tokens):
    raise errors.UserError(
      f"{here}: {len(caption.tags)} tags for {len(tokens)} words; expected one per word"
    )
  for phrase in caption.phrases:
    if not 0 <= phrase.start < phrase.end <= len(tokens):
      raise errors.UserError(
        f"{here}: phrase {phrase.start}:{phrase.end} of a caption of {len(tokens)} words"
      )
  indices = [word.index for word in caption.objects]
  if any(not 0 <= index < len(tokens) for index in indices):
    raise errors.UserError(f"{here}: object words {indices} of a caption of {len(tokens)} words")
  if any(a >= b for a, b in itertools.pairwise(indices)):
    raise errors.UserError(f"{here}: object words {indices}; expected each word once, in order")


def _annotated_boxes(record: records.Record) -> np.ndarray:
  """Every box that the record's annotation holds, [n, 4], shared ones once."""
  unique = {id(box): box for box in _arrays(record)}
  if not unique:
    return np.zeros((0, 4), np.float32)
  return np.concatenate([np.reshape(box, (-1, 4)) for box in unique.values()])


def _arrays(record: records.Record) -> Iterable[np.ndarray]:
  for thing in record.annotated:
    yield thing.box_px
  for caption in record.captions:
    for phrase in caption.phrases:
      yield phrase.boxes_px
    for word in caption.objects:
      for box in word.placed:
        yield box.box_px


def _shown(box: np.ndarray) -> str:
  return "[" + ", ".join(f"{edge:g}" for edge in box.tolist()) + "]"
