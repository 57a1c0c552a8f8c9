"""Grounding of video descriptions on ActivityNet-Entities (Zhou et al., CVPR 2019,
arXiv:1812.06587), equal to its evaluator figure by figure. Range: fractions from 0 to 1.

The rules for words are those of `grounding_events`, with one reference sentence a segment.
In addition, segments without any box are skipped; a word is localised if, for any of its
boxes, the predicted box in that box's frame has IoU > 0.5. Per-sentence scores divide by
the submitted segments that have a word to find, and by those without annotation.
"""

from collections.abc import Callable

import numpy as np

from gcap_tf import errors
from gcap_tf.metrics import grounding, grounding_events, grounding_per_sentence, overlap
from gcap_tf.metrics.activitynet import anet_io


class _Side:
  """Growing columns of one side's events."""

  def __init__(self, ids: dict[str, int]):
    self._ids = ids
    self.class_ids: list[int] = []
    self.kinds: list[int] = []
    self.hits: list[bool] = []
    self.partial: list[bool] = []

  def add(self, name: str, kind: int, hit: bool = False, partial: bool = False) -> None:
    self.class_ids.append(self._ids.setdefault(name, len(self._ids)))
    self.kinds.append(kind)
    self.hits.append(hit)
    self.partial.append(partial and not hit)

  def since(self, start: int) -> tuple[int | None, ...]:
    """Events from `start` on as a sentence's: 1, 0, None for language; ignored ones left out."""
    return tuple(
      None if kind == grounding_events.LANGUAGE else int(hit)
      for kind, hit in zip(self.kinds[start:], self.hits[start:], strict=True)
      if kind != grounding_events.IGNORED
    )

  def events(self) -> grounding_events.Events:
    nothing = np.zeros(len(self.hits), bool)
    return grounding_events.Events(
      np.array(self.class_ids, np.int64),
      np.array(self.kinds, np.int64),
      np.array(self.hits, bool),
      partial=np.array(self.partial, bool),
      enlarged=nothing,
    )


def collect(
  references: anet_io.References, predictions: anet_io.Predictions, lemma: Callable[[str], str]
) -> tuple[grounding_events.Collected, list[grounding_per_sentence.SentenceEvents], int]:
  """Walks annotated segments once.

  Returns:
    the events by class, those of each annotated and submitted segment, and the number
    of submitted segments that are not among these.
  """
  ids: dict[str, int] = {}
  precision, recall = _Side(ids), _Side(ids)
  annotated: set[str] = set()
  sentences = []
  segments = 0
  for video, segment_of in references.items():
    for name, segment in segment_of.items():
      if not len(segment.frames):
        continue
      segments += 1
      predicted = predictions.get(video, {}).get(name)
      starts = len(precision.kinds), len(recall.kinds)
      if predicted is not None:
        annotated.update(label for labels in segment.classes for label in labels)
        _precision(precision, segment, predicted, lemma)
      _recall(recall, segment, predicted)
      if predicted is not None:
        sentences.append(
          grounding_per_sentence.SentenceEvents(precision.since(starts[0]), recall.since(starts[1]))
        )
  events = grounding_events.Collected(
    classes=tuple(ids),
    precision=precision.events(),
    recall=recall.events(),
    annotated_classes=len(annotated),
    images=segments,
    submitted=len(sentences),
  )
  return events, sentences, sum(map(len, predictions.values())) - len(sentences)


def attention_accuracy(
  references: anet_io.References, predictions: anet_io.Predictions
) -> grounding.Accuracy:
  """Localisation accuracy on given sentences: mean over classes, and over words."""
  check_overlap(references, predictions)
  ids: dict[str, int] = {}
  side = _Side(ids)
  for video, segment_of in references.items():
    for name, segment in segment_of.items():
      predicted = predictions.get(video, {}).get(name)
      for index in annotated_words(segment):
        hit = False
        if predicted is not None and index in predicted.indices:
          row = predicted.indices.index(index)
          hit = is_hit(segment, index, predicted.boxes_px[row])
        side.add(class_of(segment, index), grounding_events.MATCHED, hit)
  if not ids:
    raise errors.UserError("the references have no annotated object word to judge")
  return grounding.accuracy_of(side.events(), tuple(ids))


def annotated_words(segment: anet_io.Segment) -> list[int]:
  """Positions of the words that have a box, ascending."""
  return sorted({index for places in segment.indices for index in places})


def class_of(segment: anet_io.Segment, index: int) -> str:
  """Class of an annotated word: as its first box has it."""
  box = next(row for row, places in enumerate(segment.indices) if index in places)
  return segment.classes[box][segment.indices[box].index(index)]


def is_hit(segment: anet_io.Segment, index: int, boxes_px: np.ndarray) -> bool:
  """Whether a predicted word meets any box of the annotated word at `index`.

  Args:
    segment: the reference.
    index: position of the annotated word.
    boxes_px: [10, 4] the predicted box in each frame.
  """
  rows = _rows_of(segment, index)
  iou = overlap.pixel_iou(boxes_px[segment.frames[rows]], segment.boxes_px[rows])
  return bool((iou > 0.5).any())


def is_partial(segment: anet_io.Segment, index: int, boxes_px: np.ndarray) -> bool:
  """Whether a predicted word shows a part: its box lies in a box of the word, in some frame.

  Not in the official program: Distributed counts it on pictures.
  """
  rows = _rows_of(segment, index)
  return bool(overlap.inside(boxes_px[segment.frames[rows]], segment.boxes_px[rows]).any())


def _rows_of(segment: anet_io.Segment, index: int) -> list[int]:
  """Boxes of the word at `index`."""
  rows = [row for row, places in enumerate(segment.indices) if index in places]
  return [row for row in rows if 0 <= segment.frames[row] < anet_io.FRAMES]


def _precision(side, segment, predicted, lemma) -> None:
  first: dict[str, int] = {}  # class -> smallest position
  for labels, places in zip(segment.classes, segment.indices, strict=True):
    for label, place in zip(labels, places, strict=True):
      first[label] = min(place, first.get(label, place))
  boxed = set(annotated_words(segment))
  mentioned = {lemma(t) for i, t in enumerate(segment.tokens) if i not in boxed and t != ""}
  for row, name in enumerate(predicted.classes):
    if name in first:
      at, boxes_px = first[name], predicted.boxes_px[row]
      hit, partial = is_hit(segment, at, boxes_px), is_partial(segment, at, boxes_px)
      side.add(name, grounding_events.MATCHED, hit, partial)
    elif lemma(name) in mentioned:
      side.add(name, grounding_events.IGNORED)
    else:
      side.add(name, grounding_events.LANGUAGE)


def _recall(side, segment, predicted) -> None:
  for index in annotated_words(segment):
    name = class_of(segment, index)
    if predicted is None:
      side.add(name, grounding_events.ABSENT)
    elif name in predicted.classes:
      row = predicted.classes.index(name)
      side.add(name, grounding_events.MATCHED, is_hit(segment, index, predicted.boxes_px[row]))
    else:
      side.add(name, grounding_events.LANGUAGE)


def check_overlap(references: anet_io.References, predictions: anet_io.Predictions) -> None:
  """Refuses predictions for other videos than the references', showing ids of both."""
  if references.keys() & predictions.keys():
    return
  raise errors.UserError(
    "no video is in both predictions and references: predictions have "
    f"{', '.join(list(predictions)[:3]) or 'none'}, references have "
    f"{', '.join(list(references)[:3]) or 'none'}; check the split and how ids are written"
  )
