"""Regions of the frames of a video in one: they stand one after the other and know their frame.

The feature of a frame is a vector of the whole frame, and how it changed since the frame before:

    f_j = [v_j; v_j - v_{j-1}]     v_j of frame j; the first frame changed by 0
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from gcap_tf.data import records


def joined(found: Sequence[records.Regions]) -> records.Regions:
  """The regions of all frames, in order; features of whole pictures and grids are left out."""

  def rows(name: str) -> np.ndarray | None:
    parts = [getattr(regions, name) for regions in found]
    return None if parts[0] is None else np.concatenate(parts)

  def words(name: str) -> tuple[str, ...]:
    return tuple(word for regions in found for word in getattr(regions, name))

  return records.Regions(
    boxes_px=rows("boxes_px"),
    features=rows("features"),
    labels=words("labels"),
    colours=words("colours"),
    scores=rows("scores"),
    frame=np.repeat(np.arange(len(found)), [regions.count for regions in found]).astype(np.int32),
  )


def with_frame_features(regions: records.Regions, whole: np.ndarray) -> records.Regions:
  """Adds the features of frames, all of which belong to the segment.

  Args:
    regions: of all frames.
    whole: [F, V] a vector of each frame.
  """
  grid = np.concatenate([whole, np.diff(whole, axis=0, prepend=whole[:1])], 1)
  return dataclasses.replace(
    regions, grid_features=grid, global_feature=grid.mean(0), span=(0, len(grid))
  )
