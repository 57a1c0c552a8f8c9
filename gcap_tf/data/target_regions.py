"""The overlap of an annotated word with every region: what box supervision aims at.

A word of a video has boxes in some frames; a region counts only against boxes of its own frame. A
region of a frame in which the word has no box is `ELSEWHERE`: nobody said whether it shows the
word, so supervision leaves it out. A picture is one frame.
"""

from collections.abc import Sequence

import numpy as np

from gcap_tf import box_geometry
from gcap_tf.data import records

ELSEWHERE = -1.0


def overlaps(
  word: records.ObjectWord, regions: records.Regions, count: int | None = None
) -> np.ndarray:
  """[r] the largest IoU of each of the first `count` regions with the word in its frame."""
  return all_overlaps([word], regions, regions.count if count is None else count)[0]


def all_overlaps(
  words: Sequence[records.ObjectWord], regions: records.Regions, count: int
) -> np.ndarray:
  """[words, r] float32 of many words at once."""
  boxes_px = np.zeros([count, 4], np.float32)
  if regions.boxes_px is not None:
    boxes_px = regions.boxes_px[:count]
  found = np.zeros([len(words), count], np.float32)
  if not words:
    return found
  placed = [(n, box) for n, word in enumerate(words) for box in word.placed]
  annotated = np.array([box.box_px for _, box in placed], np.float32).reshape(-1, 4)
  iou = box_geometry.iou(annotated, boxes_px).astype(np.float32)  # [boxes, r]
  if regions.frame is not None:
    frames = np.array([box.frame for _, box in placed])
    iou = np.where(frames[:, None] == regions.frame[:count], iou, np.float32(ELSEWHERE))
    found[:] = ELSEWHERE
  np.maximum.at(found, [n for n, _ in placed], iou)
  return found
