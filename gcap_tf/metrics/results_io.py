"""The grounding evaluators' files: references, submissions, split ids (Flickr30k Entities).

    references   {"annotations": [{"image_id", "captions": [{"tokens", "process_idx",
                  "process_clss", "process_bnd_box"}]}], "lemma2w": optional}
    submission   {"results": {"<image_id>": [{"clss", "idx_in_sent", "bbox"}]},
                  "eval_mode": "gen" or "GT", "external_data": {"used", "details"}}
    split ids    {"test": ["<image_id>", ..], ..}

Boxes are x1, y1, x2, y2 in pixels of the original picture. A submission lists one caption
a picture for generated sentences ("gen"), and one for each reference sentence, in their
order, for ground-truth sentences ("GT"). A fault names file, picture and key.
"""

import collections
import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from gcap_tf import errors, files
from gcap_tf.metrics import schema

EvalMode = Literal["gen", "GT"]


@dataclasses.dataclass(frozen=True)
class ReferenceCaption:
  """One reference sentence and its annotated object words.

  Attributes:
    tokens: every word, as annotated.
    indices: position of each object word; no position twice.
    classes: class of each object word.
    boxes_px: [n, 4] float32, one box for each object word.
  """

  tokens: tuple[str, ...]
  indices: tuple[int, ...]
  classes: tuple[str, ...]
  boxes_px: np.ndarray


@dataclasses.dataclass(frozen=True)
class Reference:
  """A picture's reference sentences."""

  image_id: str
  captions: tuple[ReferenceCaption, ...]


@dataclasses.dataclass(frozen=True)
class PredictedCaption:
  """The object words of one caption and the boxes that the model attended to.

  Attributes:
    classes: class of each object word, in the order of the sentence.
    indices: position of each object word in the sentence.
    boxes_px: [n, 4] float32.
  """

  classes: tuple[str, ...]
  indices: tuple[int, ...]
  boxes_px: np.ndarray


Predictions = Mapping[str, Sequence[PredictedCaption]]


@dataclasses.dataclass(frozen=True)
class Submission:
  """A read submission; `eval_mode` is None if the file does not say."""

  results: dict[str, tuple[PredictedCaption, ...]]
  eval_mode: EvalMode | None


def predicted_caption(classes: Sequence[str | None], boxes_px: np.ndarray) -> PredictedCaption:
  """Keeps the object words of a decoded caption.

  Args:
    classes: class of every word of the caption, None if it names no object.
    boxes_px: [words, 4] the box that each word attends to, in pixels.
  """
  boxes_px = np.asarray(boxes_px, np.float32).reshape(-1, 4)
  kept = [index for index, name in enumerate(classes) if name is not None]
  return PredictedCaption(tuple(classes[i] for i in kept), tuple(kept), boxes_px[kept])


def class_counts(references: Iterable[Reference]) -> dict[str, int]:
  """How often each class is annotated."""
  return dict(
    collections.Counter(
      name for reference in references for caption in reference.captions for name in caption.classes
    )
  )


def write_submission(
  path: files.PathLike,
  predictions: Predictions,
  eval_mode: EvalMode = "gen",
  external_data: str = "",
) -> None:
  """Writes the official submission JSON; `external_data` describes other data that was used."""
  results = {
    image_id: [
      {
        "clss": list(caption.classes),
        "idx_in_sent": [int(index) for index in caption.indices],
        "bbox": [[float(value) for value in box] for box in caption.boxes_px],
      }
      for caption in captions
    ]
    for image_id, captions in predictions.items()
  }
  details = {"used": bool(external_data), "details": external_data}
  files.write_json(
    path, {"results": results, "eval_mode": eval_mode, "external_data": details}, indent=None
  )


def read_references(
  path: files.PathLike, value: Any = None, only: Collection[str] | None = None
) -> list[Reference]:
  """Reads references.

  Args:
    path: the file.
    value: its JSON, if the caller has it already.
    only: ids to keep; the others are not checked.
  """
  value = files.read_json(path, "references") if value is None else value
  references = []
  for position, entry in enumerate(schema.get(value, "annotations", list, f"references {path}")):
    where = f"references {path}, entry {position}"
    image_id = str(schema.get(entry, "image_id", (str, int), where))
    if only is not None and image_id not in only:
      continue
    where = f"references {path}, image {image_id}"
    captions = schema.get(entry, "captions", list, where)
    references.append(
      Reference(
        image_id,
        tuple(_reference_caption(c, f"{where}, caption {n}") for n, c in enumerate(captions)),
      )
    )
  return references


def read_submission(path: files.PathLike, value: Any = None) -> Submission:
  """Reads a submission; `value` is the file's JSON, if the caller has it already."""
  value = files.read_json(path, "predictions") if value is None else value
  results = {}
  for image_id, captions in schema.get(value, "results", dict, f"predictions {path}").items():
    where = f"predictions {path}, image {image_id}"
    if not isinstance(captions, list) or not captions:
      raise errors.UserError(f"{where}: expected a list of at least one caption")
    results[image_id] = tuple(
      _predicted_caption(c, f"{where}, caption {n}") for n, c in enumerate(captions)
    )
  return Submission(results, checked_mode(value, f"predictions {path}"))


def checked_mode(value: Mapping[str, Any], where: str) -> EvalMode | None:
  """A submission's `eval_mode`, None if it has none."""
  eval_mode = value.get("eval_mode")
  if eval_mode not in (None, "gen", "GT"):
    raise errors.UserError(f'{where}: eval_mode is "{eval_mode}", expected "gen" or "GT"')
  return eval_mode


def read_split_ids(path: files.PathLike, split: str) -> set[str]:
  """Ids of one split; commas separate several."""
  value = files.read_json(path, "split ids")
  chosen: set[str] = set()
  for name in split.split(","):
    if not isinstance(value, dict) or not isinstance(value.get(name), list):
      known = ", ".join(value) if isinstance(value, dict) else "none"
      raise errors.UserError(f'split ids {path}: no split "{name}"; known: {known}')
    chosen.update(str(image_id) for image_id in value[name])
  return chosen


def _reference_caption(value: Any, where: str) -> ReferenceCaption:
  indices = schema.whole_numbers(value, "process_idx", where)
  classes = schema.strings(value, "process_clss", where)
  boxes_px = schema.boxes(value, "process_bnd_box", where)
  schema.same_length(where, process_idx=indices, process_clss=classes, process_bnd_box=boxes_px)
  if len(set(indices)) != len(indices):
    raise errors.UserError(f"{where}: process_idx names a word twice")
  return ReferenceCaption(schema.strings(value, "tokens", where), indices, classes, boxes_px)


def _predicted_caption(value: Any, where: str) -> PredictedCaption:
  classes = schema.strings(value, "clss", where)
  indices = schema.whole_numbers(value, "idx_in_sent", where)
  boxes_px = schema.boxes(value, "bbox", where)
  schema.same_length(where, clss=classes, idx_in_sent=indices, bbox=boxes_px)
  return PredictedCaption(classes, indices, boxes_px)
