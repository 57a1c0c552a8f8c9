"""Region proposals and frame features of Grounded Video Description for videos.

A folder holds

    *.h5                  `dets_labels` [N, P, 7] x1, y1, x2, y2, frame, class, score;
                          `dets_num` [N]
    dic_anet.json         `videos`, in the order of the rows
    a folder of VIDEO_segment_NN.npy           [10, 100, D] features of the proposals
    a folder of NAME_resnet.npy, NAME_bn.npy   [F, 2048] appearance and [F, 1024] motion of every
                          frame of video v_NAME; optional

Files are read when a segment is asked for. Boxes are in pixels of frames 720 wide. Proposals with a
score of at most 0.2 are left out: the released loader sets them to zero and masks them. At most 480
frames of a video are kept, as there.
"""

import pathlib
from collections.abc import Iterable, Mapping

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data import gvd_annotations, records
from gcap_tf.data.stores import proposal_store, region_store

MOST_FRAMES = 480
_APPEARANCE, _MOTION = "_resnet.npy", "_bn.npy"
_SEGMENTS = "*_segment_*.npy"


class GVDVideoStore(proposal_store.ProposalStore):
  """Proposals in HDF5, their features in a folder, features of frames in another.

  Attributes:
    frames: the folder of frame features; None if there is none.
  """

  item = "segment"
  counts = "dets_num"
  columns = ("x1", "y1", "x2", "y2", "frame", "class", "score")

  def __init__(self, path: files.PathLike, least_score: float = proposal_store.LEAST_SCORE):
    super().__init__(path, least_score)
    features = _folder_of(self.folder, _SEGMENTS)
    if features is None:
      raise errors.UserError(f"{self.folder}: no folder of {_SEGMENTS} features there")
    self.features = features
    self.frames = _folder_of(self.folder, f"*{_MOTION}")

  def missing(self, image_ids: Iterable[str]) -> dict[str, str]:
    """Segments that cannot be read -> the file that is not there."""
    found = {}
    for image_id in image_ids:
      paths = [self.features / f"{image_id}.npy", *self._frame_files(image_id)]
      absent = next((path for path in paths if not path.is_file()), None)
      if image_id not in self:
        found[image_id] = f"{image_id} in {gvd_annotations.LIST}"
      elif absent is not None:
        found[image_id] = str(absent)
    return found

  def frame_features(self, image_id: str) -> tuple[np.ndarray, int] | None:
    """[F, M] features of the first frames of a segment's video, and how many frames it has.

    None if the store has no features of frames.
    """
    if self.frames is None:
      return None
    parts = [
      region_store.load_array(path, "frame features", mapped=True)
      for path in self._frame_files(image_id)
    ]
    if any(part.ndim != 2 or len(part) != len(parts[0]) for part in parts):
      shapes = " and ".join(str(list(part.shape)) for part in parts)
      raise errors.UserError(
        f"frame features {self._frame_files(image_id)[0]} and its *{_MOTION} have shapes {shapes}; "
        "expected one row a frame in both: extract them again"
      )
    joined = np.concatenate([part[:MOST_FRAMES] for part in parts], 1)
    return region_store.float_rows(joined), len(parts[0])

  def _frame_files(self, image_id: str) -> list[pathlib.Path]:
    if self.frames is None:
      return []
    name = image_id.rpartition("_segment_")[0].removeprefix("v_")
    return [self.frames / f"{name}{ending}" for ending in (_APPEARANCE, _MOTION)]

  def _read(self, image_id: str) -> records.Regions:
    kept = self._kept(image_id)
    return records.Regions(
      boxes_px=region_store.float_rows(kept.proposals[:, :4]),
      features=kept.features,
      scores=kept.scores,
      frame=kept.proposals[:, 4].astype(np.int32),
    )

  def listed(self) -> tuple[pathlib.Path, Mapping[str, int]]:
    path = self.folder / gvd_annotations.LIST
    listed = gvd_annotations.segment_ids(path)
    return path, {image_id: row for row, (image_id, _) in enumerate(listed)}


def span(segment: records.Segment, frames: int) -> tuple[int, int]:
  """The frames of a video of `frames` that belong to a segment: first, one past the last."""
  if not segment.duration:
    return 0, min(frames, MOST_FRAMES)
  ends = np.round(frames * np.array([segment.start, segment.end]) / segment.duration)
  first, end = np.clip(ends, 0, MOST_FRAMES).astype(int).tolist()
  return first, end


def _folder_of(folder: pathlib.Path, pattern: str) -> pathlib.Path | None:
  """The first folder inside `folder` that has a file of this pattern."""
  inside = (entry for entry in sorted(folder.iterdir()) if entry.is_dir())
  return next((entry for entry in inside if next(entry.glob(pattern), None)), None)
