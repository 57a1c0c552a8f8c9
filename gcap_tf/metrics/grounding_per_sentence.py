"""Grounding per generated sentence (Cyclical, Ma et al., ECCV 2020, arXiv:1906.00283, Sec. 4
and Appendix A), against the pool of object words of all reference sentences.

With A object words generated, B in the pool, C and D of them rightly named on either
side, E also well localised:

    Prec_all = E / A    Rec_all = E / B    Prec_loc = E / C    Rec_loc = E / D

for each sentence; the score is the mean over sentences. The script for Flickr30k was
never released. Choices here: a predicted word is right if its class is in the pool, and
localised if its box meets any pooled box of the class (IoU > 0.5); words whose lemma
some reference mentions without a box do not count; recall is over the distinct classes
of the pool (`recall_over="words"`: over every annotated word and its own box), judged
by the first predicted word of the class. As in the released video script a sentence
with no word on the recall side is left out.
"""

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from gcap_tf.metrics import grounding, grounding_events, overlap, results_io

RecallOver = Literal["classes", "words"]


@dataclasses.dataclass(frozen=True)
class SentenceEvents:
  """One sentence's judged words: 1 localised, 0 not, None wrong in language.

  Attributes:
    precision: one entry for each predicted word that counts.
    recall: one entry for each class (or word) of the pool.
  """

  precision: tuple[int | None, ...]
  recall: tuple[int | None, ...]


@dataclasses.dataclass(frozen=True)
class PerSentence:
  """Means over sentences, as fractions.

  Attributes:
    all, loc: the two modes.
    sentences: sentences that enter the mean of mode "all" and of mode "loc".
  """

  all: grounding.Scores
  loc: grounding.Scores
  sentences: tuple[int, int]

  def as_json(self) -> dict[str, float]:
    values = {}
    for mode, scores in (("all", self.all), ("loc", self.loc)):
      for name in ("precision", "recall", "f1"):
        values[f"{name}_{mode}_per_sentence"] = getattr(scores, name)
    return values


def score(
  references: Sequence[results_io.Reference],
  predictions: results_io.Predictions,
  lemma: Callable[[str], str],
  recall_over: RecallOver = "classes",
) -> PerSentence:
  """Scores the first predicted caption of each picture that has references."""
  grounding.check_overlap(references, predictions)
  events = [
    judge(reference, predictions[reference.image_id][0], lemma, recall_over)
    for reference in references
    if predictions.get(reference.image_id)
  ]
  every, localised = mean_scores(events, "all"), mean_scores(events, "loc")
  return PerSentence(every[0], localised[0], (every[1], localised[1]))


def judge(
  reference: results_io.Reference,
  predicted: results_io.PredictedCaption,
  lemma: Callable[[str], str],
  recall_over: RecallOver = "classes",
  iou_threshold: float = 0.5,
) -> SentenceEvents:
  """Compares one caption with the pooled object words of its picture."""
  pool: dict[str, list[np.ndarray]] = collections.defaultdict(list)
  mentioned: set[str] = set()
  for sentence in reference.captions:
    for name, box in zip(sentence.classes, sentence.boxes_px, strict=True):
      pool[name].append(box)
    mentioned |= grounding_events.unannotated_lemmas(sentence, lemma)

  def hits(row: int, name: str) -> np.ndarray:  # [boxes of the class]
    return overlap.pixel_iou(predicted.boxes_px[row], np.stack(pool[name])) > iou_threshold

  precision: list[int | None] = []
  for row, name in enumerate(predicted.classes):
    if name in pool:
      precision.append(int(hits(row, name).any()))
    elif lemma(name) not in mentioned:
      precision.append(None)
  recall: list[int | None] = []
  for name, boxes in pool.items():
    if name not in predicted.classes:
      recall.extend([None] * (1 if recall_over == "classes" else len(boxes)))
      continue
    found = hits(predicted.classes.index(name), name)
    recall.extend([int(found.any())] if recall_over == "classes" else [int(hit) for hit in found])
  return SentenceEvents(tuple(precision), tuple(recall))


def mean_scores(
  events: Sequence[SentenceEvents], mode: grounding.Mode, unannotated: int = 0
) -> tuple[grounding.Scores, int]:
  """Means over sentences, and how many there were.

  Args:
    events: one entry for each sentence.
    mode: "all" counts words wrong in language as 0, "loc" leaves them out.
    unannotated: sentences submitted without any annotation. The released video script
      keeps them in the denominator as zeros.
  """
  rows = []
  for sentence in events:
    sides = []
    for side in (sentence.precision, sentence.recall):
      sides.append([hit or 0 for hit in side if mode == "all" or hit is not None])
    if sides[1]:
      precision = float(np.mean(sides[0])) if sides[0] else 0.0
      recall = float(np.mean(sides[1]))
      rows.append((precision, recall, grounding.f1_score(precision, recall)))
  count = len(rows) + unannotated
  if not rows:
    return grounding.Scores(0.0, 0.0, 0.0), count
  return grounding.Scores(*(float(v) for v in np.sum(rows, axis=0) / count)), count
