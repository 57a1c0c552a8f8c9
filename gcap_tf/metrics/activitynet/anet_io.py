"""The grounding files of ActivityNet-Entities (Zhou et al., CVPR 2019, arXiv:1812.06587).

    references  {"annotations": {"v_<id>": {"segments": {"0": {"tokens", "frame_ind",
                 "process_bnd_box", "process_clss", "process_idx"}}}}}
    submission  {"results": {"v_<id>": {"0": {"clss", "idx_in_sent",
                 "bbox_for_all_frames"}}}, "eval_mode": "gen" or "GT"}

A reference box lies in one of a segment's ten frames and may carry several words; a word
may have several boxes. A prediction has a box in each frame. Numbers of a box after the fourth are
left out, as the official program does.
"""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from gcap_tf import errors, files
from gcap_tf.metrics import results_io, schema

FRAMES = 10


@dataclasses.dataclass(frozen=True)
class Segment:
  """One reference sentence.

  Attributes:
    tokens: its words.
    boxes_px: [n, 4] float32.
    frames: [n] the frame of each box.
    classes: classes of the words of each box.
    indices: positions of those words, parallel to `classes`.
  """

  tokens: tuple[str, ...]
  boxes_px: np.ndarray
  frames: np.ndarray
  classes: tuple[tuple[str, ...], ...]
  indices: tuple[tuple[int, ...], ...]


@dataclasses.dataclass(frozen=True)
class PredictedSegment:
  """Object words of one sentence and their boxes in every frame: boxes_px [words, 10, 4]."""

  classes: tuple[str, ...]
  indices: tuple[int, ...]
  boxes_px: np.ndarray


References = dict[str, dict[str, Segment]]
Predictions = dict[str, dict[str, PredictedSegment]]


def is_video(references: Any) -> bool:
  """Whether a reference file's JSON is of this schema: annotations by video, not a list."""
  return isinstance(references, dict) and isinstance(references.get("annotations"), dict)


def read_references(
  path: files.PathLike, value: Any = None, only: Collection[str] | None = None
) -> References:
  """Reads references.

  Args:
    path: the file.
    value: its JSON, if the caller has it already.
    only: videos to keep; the others are not checked.
  """
  value = files.read_json(path, "references") if value is None else value
  references: References = {}
  annotations = schema.get(value, "annotations", dict, f"references {path}")
  for video, entry in annotations.items():
    if only is not None and video not in only:
      continue
    segments = schema.get(entry, "segments", dict, f"references {path}, video {video}")
    references[video] = {
      name: _segment(segment, f"references {path}, video {video}, segment {name}")
      for name, segment in segments.items()
    }
  return references


def read_submission(
  path: files.PathLike, value: Any = None
) -> tuple[Predictions, results_io.EvalMode | None]:
  """Predictions, and the evaluation mode if the file states it."""
  value = files.read_json(path, "predictions") if value is None else value
  results: Predictions = {}
  for video, segments in schema.get(value, "results", dict, f"predictions {path}").items():
    if not isinstance(segments, dict):
      raise errors.UserError(f"predictions {path}, video {video}: expected segments by name")
    results[video] = {
      name: _predicted(segment, f"predictions {path}, video {video}, segment {name}")
      for name, segment in segments.items()
    }
  return results, results_io.checked_mode(value, f"predictions {path}")


def predicted_segment(
  classes: Sequence[str | None], boxes_px: np.ndarray, positions: Sequence[int] | None = None
) -> PredictedSegment:
  """Keeps the object words of a sentence.

  Args:
    classes: class of every word, None if it names no object.
    boxes_px: [words, F, 4] the box of every word in every frame, in pixels.
    positions: of the words in the sentence as distributed; by default 0, 1, ...
  """
  kept = [index for index, name in enumerate(classes) if name is not None]
  places = range(len(classes)) if positions is None else positions
  return PredictedSegment(
    tuple(classes[i] for i in kept), tuple(places[i] for i in kept), boxes_px[kept]
  )


def write_submission(
  path: files.PathLike,
  predictions: Predictions,
  eval_mode: results_io.EvalMode = "gen",
  external_data: str = "",
) -> None:
  """Writes the official submission JSON; `external_data` describes other data that was used."""
  results = {
    video: {
      name: {
        "clss": list(segment.classes),
        "idx_in_sent": [int(index) for index in segment.indices],
        "bbox_for_all_frames": segment.boxes_px.astype(float).tolist(),
      }
      for name, segment in segments.items()
    }
    for video, segments in predictions.items()
  }
  details = {"used": bool(external_data), "details": external_data}
  files.write_json(
    path, {"results": results, "eval_mode": eval_mode, "external_data": details}, indent=None
  )


def _segment(value: Any, where: str) -> Segment:
  boxes = schema.boxes(value, "process_bnd_box", where, cut=True)
  frames = schema.whole_numbers(value, "frame_ind", where)
  classes = _nested(value, "process_clss", str, where)
  indices = _nested(value, "process_idx", int, where)
  tokens = schema.strings(value, "tokens", where)
  if not frames:  # skeletons of hidden test sets list classes without their boxes
    return Segment(tokens, np.zeros((0, 4), np.float32), np.zeros(0, np.int64), (), ())
  schema.same_length(
    where,
    process_bnd_box=boxes,
    frame_ind=frames,
    process_clss=classes,
    process_idx=indices,
  )
  if any(len(names) != len(places) for names, places in zip(classes, indices, strict=True)):
    raise errors.UserError(f"{where}: process_clss and process_idx differ in length for a box")
  return Segment(tokens, boxes, np.array(frames, np.int64), classes, indices)


def _predicted(value: Any, where: str) -> PredictedSegment:
  classes = schema.strings(value, "clss", where)
  indices = schema.whole_numbers(value, "idx_in_sent", where)
  boxes = schema.boxes(value, "bbox_for_all_frames", where, (FRAMES, 4), cut=True)
  schema.same_length(where, clss=classes, idx_in_sent=indices, bbox_for_all_frames=boxes)
  return PredictedSegment(classes, indices, boxes)


def _nested(value: Any, key: str, kind: type, where: str) -> tuple[tuple, ...]:
  rows = schema.get(value, key, list, where)
  if not all(isinstance(row, list) and all(type(item) is kind for item in row) for row in rows):
    raise errors.UserError(f'{where}: "{key}" must hold a list of {kind.__name__} for each box')
  return tuple(tuple(row) for row in rows)
