"""The frames of a clip to the regions of a segment of a video.

Every frame is looked at as a picture; `data/frame_regions.py` joins what was seen. The feature of a
frame is that of the whole picture.
"""

from collections.abc import Sequence

import numpy as np

from gcap_tf.data import frame_regions, records
from gcap_tf.vision.extraction import region_extractor


def look(
  extractor: region_extractor.RegionExtractor, frames: Sequence[np.ndarray], name: str
) -> records.Regions:
  """The regions of all frames, boxes in their pixels.

  Args:
    extractor: looks at pictures.
    frames: uint8 [H, W, 3] each.
    name: of the clip; a detector of several folds chooses by it.
  """
  found = [extractor.regions(frame, name) for frame in frames]
  whole = np.array([regions.global_feature for regions in found])  # [F, G]
  return frame_regions.with_frame_features(frame_regions.joined(found), whole)
