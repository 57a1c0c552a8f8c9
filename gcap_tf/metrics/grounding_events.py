"""The events that the official grounding evaluator counts, word by word.

GVD (Zhou et al., CVPR 2019, arXiv:1812.06587); the Flickr30k Entities script of POS-SCAN
(CVPR 2020, arXiv:2004.00390).

A generated caption is compared with each reference sentence of its picture in turn.

    precision side, for each predicted object word p (repeated words repeat):
      MATCHED   the class of p is annotated in this sentence; its box is judged against
                the annotated word of that class with the smallest position
      IGNORED   the lemma of p occurs in the sentence without a box
      LANGUAGE  otherwise: hallucinated with respect to this sentence
    recall side, for each annotated word g:
      ABSENT    the picture is not in the submission
      MATCHED   the class of g is predicted; the first such word's box is judged against
                g's own box
      LANGUAGE  otherwise: missed

Precision leaves out pictures that are not in the submission. Every figure of
`grounding` and `errors` is a sum over these events.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from gcap_tf.metrics import overlap, results_io

MATCHED, LANGUAGE, IGNORED, ABSENT = range(4)


@dataclasses.dataclass(frozen=True)
class Events:
  """One side's judged words, in reading order.

  Attributes:
    class_id: [N] int, index into `Collected.classes`.
    kind: [N] MATCHED, LANGUAGE, IGNORED or ABSENT.
    hit: [N] bool, MATCHED and IoU > 0.5.
    partial: [N] bool, MATCHED, not a hit, the predicted box inside the reference box.
    enlarged: [N] bool, MATCHED, not a hit, the reference box inside the predicted box.
  """

  class_id: np.ndarray
  kind: np.ndarray
  hit: np.ndarray
  partial: np.ndarray
  enlarged: np.ndarray

  def with_partial_as_hits(self) -> "Events":
    """The same words, partial groundings counted as hits: an upper bound."""
    return dataclasses.replace(
      self, hit=self.hit | self.partial, partial=np.zeros_like(self.partial)
    )


@dataclasses.dataclass(frozen=True)
class Collected:
  """Both sides' events.

  Attributes:
    classes: every class that was predicted or annotated.
    precision, recall: the two sides.
    annotated_classes: number of classes annotated in the pictures submitted.
    images: pictures of the references; `submitted` of them have a prediction.
  """

  classes: tuple[str, ...]
  precision: Events
  recall: Events
  annotated_classes: int
  images: int
  submitted: int


class Side:
  """Growing columns of one side's events."""

  def __init__(self):
    self.class_ids: list[int] = []
    self.kinds: list[int] = []
    self.predicted: list[np.ndarray] = []
    self.reference: list[np.ndarray] = []
    self.judged: list[int] = []

  def add(self, class_id: int, kind: int) -> None:
    self.class_ids.append(class_id)
    self.kinds.append(kind)

  def judge(self, class_id: int, predicted: np.ndarray, reference: np.ndarray) -> None:
    self.judged.append(len(self.kinds))
    self.predicted.append(predicted)
    self.reference.append(reference)
    self.add(class_id, MATCHED)

  def events(self, iou_threshold: float) -> Events:
    count = len(self.kinds)
    hit, partial, enlarged = (np.zeros(count, bool) for _ in range(3))
    if self.judged:
      predicted, reference = np.stack(self.predicted), np.stack(self.reference)
      on_target = overlap.pixel_iou(predicted, reference) > iou_threshold
      hit[self.judged] = on_target
      partial[self.judged] = ~on_target & overlap.inside(predicted, reference)
      enlarged[self.judged] = (
        ~on_target & overlap.inside(reference, predicted) & ~partial[self.judged]
      )
    return Events(
      np.array(self.class_ids, np.int64), np.array(self.kinds, np.int64), hit, partial, enlarged
    )


def collect(
  references: Sequence[results_io.Reference],
  predictions: results_io.Predictions,
  lemma: Callable[[str], str],
  iou_threshold: float = 0.5,
) -> Collected:
  """Walks references and predictions once; see the module's docstring for the rules.

  Args:
    references: the pictures evaluated.
    predictions: image id -> captions; the first caption of a picture counts.
    lemma: lemma of one word on its own.
    iou_threshold: a hit has an IoU strictly above it.
  """
  ids: dict[str, int] = {}
  precision, recall = Side(), Side()
  annotated: set[str] = set()
  submitted = 0
  for reference in references:
    captions = predictions.get(reference.image_id)
    predicted = captions[0] if captions else None
    submitted += predicted is not None
    for sentence in reference.captions:
      if predicted is not None:
        annotated.update(sentence.classes)
        _precision(precision, sentence, predicted, lemma, ids)
      _recall(recall, sentence, predicted, ids)
  return Collected(
    classes=tuple(ids),
    precision=precision.events(iou_threshold),
    recall=recall.events(iou_threshold),
    annotated_classes=len(annotated),
    images=len(references),
    submitted=submitted,
  )


def unannotated_lemmas(
  sentence: results_io.ReferenceCaption, lemma: Callable[[str], str]
) -> set[str]:
  """Lemmas of the words that carry no box: mentioned, so not hallucinated."""
  boxed = set(sentence.indices)
  return {
    lemma(token)
    for index, token in enumerate(sentence.tokens)
    if index not in boxed and token != ""
  }


def _precision(side, sentence, predicted, lemma, ids) -> None:
  first: dict[str, tuple[int, int]] = {}  # class -> smallest position, its row
  for row, (name, index) in enumerate(zip(sentence.classes, sentence.indices, strict=True)):
    if name not in first or index < first[name][0]:
      first[name] = (index, row)
  mentioned = None
  for row, name in enumerate(predicted.classes):
    class_id = ids.setdefault(name, len(ids))
    if name in first:
      side.judge(class_id, predicted.boxes_px[row], sentence.boxes_px[first[name][1]])
      continue
    if mentioned is None:
      mentioned = unannotated_lemmas(sentence, lemma)
    side.add(class_id, IGNORED if lemma(name) in mentioned else LANGUAGE)


def _recall(side, sentence, predicted, ids) -> None:
  for row, name in enumerate(sentence.classes):
    class_id = ids.setdefault(name, len(ids))
    if predicted is None:
      side.add(class_id, ABSENT)
    elif name in predicted.classes:
      first = predicted.classes.index(name)
      side.judge(class_id, predicted.boxes_px[first], sentence.boxes_px[row])
    else:
      side.add(class_id, LANGUAGE)
