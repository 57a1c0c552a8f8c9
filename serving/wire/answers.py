"""The answer of a server for one picture."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

THRESHOLD = 0.5  # a word whose box is less likely to be right is drawn without it


@dataclasses.dataclass(frozen=True)
class SeenRegions:
  """The regions that a captioner of photographs found by itself.

  Attributes:
    boxes: [R, 4] from 0 to 1.
    labels: R names, "" if unknown.
    scores: [R] from 0 to 1.
    image_size: width and height of the upright picture.
  """

  boxes: np.ndarray
  labels: tuple[str, ...]
  scores: np.ndarray
  image_size: tuple[int, int]


@dataclasses.dataclass(frozen=True)
class GroundedCaption:
  """A caption and the boxes of its words.

  Attributes:
    caption: the words joined by spaces.
    words: the n words.
    box_index: [n] region of each word, -1 for none.
    grounded: [n] whether the word names a thing.
    boxes: [n, 4] box of each word, from 0 to 1.
    attention: [n, R] attention of each word.
    log_prob: log-probability of the caption.
    word_scores: [n] probability that the box of each word is right; None if the model has none.
    score: expected share of the caption's things whose box is right; None if the model has none.
    answered: False if the model knows nothing of the picture and gives no caption.
    error: why the picture could not be captioned; "" if it could.
    unknown_labels: labels that were sent and that the model does not know, each once.
    seen: the regions, if the model found them itself.
  """

  caption: str
  words: tuple[str, ...]
  box_index: np.ndarray
  grounded: np.ndarray
  boxes: np.ndarray
  attention: np.ndarray
  log_prob: float
  word_scores: np.ndarray | None = None
  score: float | None = None
  answered: bool = True
  error: str = ""
  unknown_labels: tuple[str, ...] = ()
  seen: SeenRegions | None = None

  def pointing(self, threshold: float = THRESHOLD) -> np.ndarray:
    """[n] whether a word names a thing and its box is at least that likely to be right."""
    if self.word_scores is None:
      return self.grounded
    return self.grounded & (self.word_scores >= threshold)

  def to_json(self) -> dict[str, Any]:
    row = {
      "caption": self.caption,
      "words": list(self.words),
      "box_index": self.box_index.tolist(),
      "grounded": self.grounded.tolist(),
      "boxes": _rounded(self.boxes),
      "log_prob": self.log_prob,
      "answered": self.answered,
    }
    if self.word_scores is not None:
      row["word_score"] = _rounded(self.word_scores)
    if self.score is not None:
      row["score"] = round(self.score, 5)
    if self.error:
      row["error"] = self.error
    if self.unknown_labels:
      row["unknown_labels"] = list(self.unknown_labels)
    if self.seen is not None:
      row["image_size"] = list(self.seen.image_size)
      row["regions"] = [
        {"box": box, "label": label, "score": score}
        for box, label, score in zip(
          _rounded(self.seen.boxes), self.seen.labels, _rounded(self.seen.scores), strict=True
        )
      ]
    return row


def read(outputs: Mapping[str, np.ndarray], row: int, regions: int | None) -> GroundedCaption:
  """Returns the answer of one picture.

  Args:
    outputs: tensors of the whole answer.
    row: which picture.
    regions: number of regions that were sent; None for a photograph.
  """
  seen = None if regions is not None else _seen(outputs, row)
  if seen is not None:
    regions = len(seen.boxes)
  count = int(outputs["length"][row])
  scores = outputs.get("word_score")
  return GroundedCaption(
    caption=outputs["caption"][row].decode(),
    words=tuple(word.decode() for word in outputs["words"][row, :count]),
    box_index=outputs["box_index"][row, :count],
    grounded=outputs["grounded"][row, :count],
    boxes=outputs["box"][row, :count],
    attention=outputs["attention"][row, :count, :regions],
    log_prob=float(outputs["log_prob"][row]),
    word_scores=None if scores is None else scores[row, :count],
    score=float(outputs["score"][row]) if "score" in outputs else None,
    answered=bool(outputs["answered"][row]) if "answered" in outputs else True,
    error=outputs["error"][row].decode() if "error" in outputs else "",
    unknown_labels=_unknown(outputs, row),
    seen=seen,
  )


def _unknown(outputs: Mapping[str, np.ndarray], row: int) -> tuple[str, ...]:
  if "unknown_labels" not in outputs:
    return ()
  return tuple(dict.fromkeys(name.decode() for name in outputs["unknown_labels"][row] if name))


def _seen(outputs: Mapping[str, np.ndarray], row: int) -> SeenRegions:
  count = int(outputs["num_regions"][row])
  width, height = outputs["image_size"][row].tolist()
  return SeenRegions(
    boxes=outputs["region_boxes"][row, :count],
    labels=tuple(name.decode() for name in outputs["region_labels"][row, :count]),
    scores=outputs["region_scores"][row, :count],
    image_size=(int(width), int(height)),
  )


def _rounded(array: np.ndarray) -> list:
  return np.round(np.asarray(array, np.float64), 5).tolist()
