"""Grounding of generated and of given sentences (GVD, Zhou et al., CVPR 2019, arXiv:1812.06587;
POS-SCAN, CVPR 2020, arXiv:2004.00390), equal to their evaluators figure by figure.

    P = (1 / V) sum_c mean(hits of class c on the precision side)
    R = (1 / V) sum_c mean(hits of class c on the recall side)
    F1 = 2 P R / (P + R)

V is the number of classes annotated in the submitted pictures: a class that is never
predicted adds 0, and F1 is the harmonic mean of two macro means, not a mean of F1s. In
mode "all" hallucinated and missed words count as wrong; in mode "loc" only words whose
class is right are judged. `grounding_events` has the rules for single words.

Departure: P = R = 0 gives F1 0 (the official script divides by zero). Range: fractions
from 0 to 1; reports turn them into percent.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from gcap_tf import errors
from gcap_tf.metrics import grounding_events, results_io

Mode = Literal["all", "loc"]


@dataclasses.dataclass(frozen=True)
class Scores:
  """Precision, recall and their F1, as fractions."""

  precision: float
  recall: float
  f1: float


@dataclasses.dataclass(frozen=True)
class ClassScores:
  """One object class in mode "all": words judged on each side, and their hit rates."""

  name: str
  predicted: int
  annotated: int
  precision: float
  recall: float
  f1: float


@dataclasses.dataclass(frozen=True)
class Grounding:
  """Scores of generated sentences; papers print the macro ones.

  Attributes:
    all, loc: macro over classes.
    all_micro, loc_micro: every word counts the same.
    all_bound, loc_bound: macro, with partial groundings counted as correct.
    per_class: annotated classes, most annotated words first.
    events: the judged words behind the figures.
  """

  all: Scores
  loc: Scores
  all_micro: Scores
  loc_micro: Scores
  all_bound: Scores
  loc_bound: Scores
  per_class: tuple[ClassScores, ...]
  events: grounding_events.Collected

  def as_json(self) -> dict[str, float]:
    """The keys of the evaluation commands."""
    values: dict[str, float] = {}
    for mode, macro, micro, bound in (
      ("all", self.all, self.all_micro, self.all_bound),
      ("loc", self.loc, self.loc_micro, self.loc_bound),
    ):
      for name in ("precision", "recall", "f1"):
        values[f"{name}_{mode}"] = getattr(macro, name)
        values[f"{name}_{mode}_micro"] = getattr(micro, name)
      values[f"f1_{mode}_partial_as_correct"] = bound.f1
    return values


@dataclasses.dataclass(frozen=True)
class Accuracy:
  """Attention accuracy on given sentences.

  Attributes:
    macro: mean over classes of the class's hit rate: the published figure.
    micro: hit rate over words.
    per_class: class -> (hit rate, words), most frequent first.
  """

  macro: float
  micro: float
  per_class: dict[str, tuple[float, int]]

  def as_json(self) -> dict[str, float]:
    return {"attention_accuracy": self.macro, "attention_accuracy_micro": self.micro}


def f1_score(precision: float, recall: float) -> float:
  total = precision + recall
  return 2.0 * precision * recall / total if total else 0.0


def score(
  references: Sequence[results_io.Reference],
  predictions: results_io.Predictions,
  lemma: Callable[[str], str],
) -> Grounding:
  """F1_all and F1_loc of generated sentences, with all that explains them."""
  check_overlap(references, predictions)
  events = grounding_events.collect(references, predictions, lemma)
  bound = dataclasses.replace(
    events,
    precision=events.precision.with_partial_as_hits(),
    recall=events.recall.with_partial_as_hits(),
  )
  return Grounding(
    all=macro_scores(events, "all"),
    loc=macro_scores(events, "loc"),
    all_micro=micro_scores(events, "all"),
    loc_micro=micro_scores(events, "loc"),
    all_bound=macro_scores(bound, "all"),
    loc_bound=macro_scores(bound, "loc"),
    per_class=class_table(events),
    events=events,
  )


def attention_accuracy(
  references: Sequence[results_io.Reference],
  predictions: results_io.Predictions,
  iou_threshold: float = 0.5,
) -> Accuracy:
  """Hit rate of annotated words of the given sentences, one prediction for each sentence.

  A picture that is not in the submission, or a word without prediction, counts as wrong.
  Predictions beyond the last sentence (some pictures have fewer than five) do not count.
  """
  check_overlap(references, predictions)
  side = grounding_events.Side()
  ids: dict[str, int] = {}
  for reference in references:
    captions = predictions.get(reference.image_id)
    if captions is not None and len(captions) < len(reference.captions):
      raise errors.UserError(
        f"image {reference.image_id}: {len(captions)} predicted captions for "
        f"{len(reference.captions)} reference sentences; eval_mode GT needs one for each, in order"
      )
    for position, sentence in enumerate(reference.captions):
      predicted = captions[position] if captions is not None else None
      for row, (index, name) in enumerate(zip(sentence.indices, sentence.classes, strict=True)):
        class_id = ids.setdefault(name, len(ids))
        if predicted is None or index not in predicted.indices:
          side.add(class_id, grounding_events.ABSENT)
        else:
          box = predicted.boxes_px[predicted.indices.index(index)]
          side.judge(class_id, box, sentence.boxes_px[row])
  if not ids:
    raise errors.UserError("the references have no annotated object word to judge")
  return accuracy_of(side.events(iou_threshold), tuple(ids))


def accuracy_of(events: grounding_events.Events, classes: Sequence[str]) -> Accuracy:
  """Hit rates of judged words, each of which counts; every class has a word."""
  hits, words = _per_class(events, np.ones(len(events.hit), bool), len(classes))
  rates = hits / words
  order = sorted(range(len(classes)), key=lambda i: (-words[i], classes[i]))
  per_class = {classes[i]: (float(rates[i]), int(words[i])) for i in order}
  return Accuracy(float(np.mean(rates)), float(hits.sum() / words.sum()), per_class)


def macro_scores(events: grounding_events.Collected, mode: Mode) -> Scores:
  """Means over the classes annotated in the submitted pictures."""
  means = []
  for side in (events.precision, events.recall):
    hits, words = _per_class(side, counted(side, mode), len(events.classes))
    rates = np.divide(hits, words, out=np.zeros(len(hits)), where=words > 0)
    means.append(float(rates.sum() / max(events.annotated_classes, 1)))
  return Scores(*means, f1_score(*means))


def micro_scores(events: grounding_events.Collected, mode: Mode) -> Scores:
  """Hit rates over words, whatever their class."""
  means = []
  for side in (events.precision, events.recall):
    chosen = counted(side, mode)
    means.append(float(side.hit[chosen].sum() / max(chosen.sum(), 1)))
  return Scores(*means, f1_score(*means))


def counted(side: grounding_events.Events, mode: Mode) -> np.ndarray:
  """Which events enter the mean: [N] bool."""
  kinds = [grounding_events.MATCHED, grounding_events.ABSENT]
  return np.isin(side.kind, [*kinds, grounding_events.LANGUAGE] if mode == "all" else kinds)


def class_table(events: grounding_events.Collected) -> tuple[ClassScores, ...]:
  """Every annotated class in mode "all", most annotated words first."""
  count = len(events.classes)
  hit_p, words_p = _per_class(events.precision, counted(events.precision, "all"), count)
  hit_r, words_r = _per_class(events.recall, counted(events.recall, "all"), count)
  rows = []
  for i in sorted(range(count), key=lambda i: (-words_r[i], events.classes[i])):
    if words_r[i]:
      precision = float(hit_p[i] / words_p[i]) if words_p[i] else 0.0
      recall = float(hit_r[i] / words_r[i])
      rows.append(
        ClassScores(
          events.classes[i],
          int(words_p[i]),
          int(words_r[i]),
          precision,
          recall,
          f1_score(precision, recall),
        )
      )
  return tuple(rows)


@dataclasses.dataclass(frozen=True)
class FrequencyGroup:
  """Classes of like frequency: mean of their F1 in mode "all".

  Attributes:
    first, last: ranks of its classes, 1 is the most frequent.
    least_frequent: count of its rarest class.
    f1: the mean, a fraction.
  """

  first: int
  last: int
  least_frequent: int
  f1: float

  def as_json(self) -> dict[str, float]:
    return {f"f1_all_classes_{self.first}_{self.last}": self.f1}


def frequency_groups(
  per_class: Sequence[ClassScores],
  frequency: Mapping[str, int] | None = None,
  size: int = 50,
) -> tuple[FrequencyGroup, ...]:
  """Groups classes by rank of frequency (Cyclical, Ma et al., ECCV 2020, Fig. 4).

  Ranks count all classes of the training set; a group's F1 is the mean over its classes that
  the evaluated split has. Groups without such a class are left out.

  Args:
    per_class: the classes evaluated.
    frequency: class -> count in the training set; if None, annotated words
      of the evaluated split.
    size: classes in a group.
  """
  scores = {row.name: row.f1 for row in per_class}
  counts = {row.name: row.annotated for row in per_class}
  if frequency is not None:
    counts = {**dict.fromkeys(counts, 0), **frequency}
  ordered = sorted(counts, key=lambda name: (-counts[name], name))
  groups = []
  for start in range(0, len(ordered), size):
    names = ordered[start : start + size]
    judged = [scores[name] for name in names if name in scores]
    if judged:
      groups.append(
        FrequencyGroup(start + 1, start + len(names), counts[names[-1]], float(np.mean(judged)))
      )
  return tuple(groups)


def check_overlap(
  references: Sequence[results_io.Reference], predictions: results_io.Predictions
) -> None:
  """Refuses predictions for other pictures than the references', showing ids of both."""
  if any(reference.image_id in predictions for reference in references):
    return
  predicted = ", ".join(list(predictions)[:3]) or "none"
  expected = ", ".join(reference.image_id for reference in references[:3]) or "none"
  raise errors.UserError(
    f"no picture is in both predictions and references: predictions have {predicted}, "
    f"references have {expected}; check the split and how ids are written"
  )


def _per_class(
  side: grounding_events.Events, chosen: np.ndarray, classes: int
) -> tuple[np.ndarray, np.ndarray]:
  class_id = side.class_id[chosen]
  hits = np.bincount(class_id, weights=side.hit[chosen], minlength=classes)
  return hits, np.bincount(class_id, minlength=classes)
