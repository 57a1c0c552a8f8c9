"""Attention Precision, Recall and F1 (Chen et al., CCR and CCS: "More Than Just Attention",
WACV 2023, arXiv:2105.09597), and attention accuracy (POS-SCAN, CVPR 2020, Table 1).

For word t of a matched picture and caption, regions r with weight w[t, r]:

    R = { r : max_g IoU(box_r, g) > T_IoU }   g over the boxes of the word's phrase
    A = { r : w[t, r] > T_att }
    AP = |A and R| / |A|     AR = |A and R| / |R|     AF = 2 AP AR / (AP + AR)

A phrase scores the maximum over its words, for each measure separately; the result is the mean
over phrases. F1 is therefore the mean of the phrases' F1, not the harmonic mean of the
two means. T_att is swept, and the threshold with the best mean F1 is reported. Range: 0 to 1.

Choices that the paper leaves open: a word that attends to nothing scores 0; a phrase that no region
covers (R empty) is dropped and its share reported, or counted 0 with
`count_uncovered`; phrases without boxes are skipped; areas are continuous.
"""

import collections
import dataclasses
from collections.abc import Callable

import numpy as np

from gcap_tf import box_geometry, errors
from gcap_tf.data import records
from gcap_tf.metrics import overlap
from gcap_tf.metrics.bootstrap import resampling

THRESHOLDS = tuple(i / 100 for i in range(11))
IOU = 0.4  # T_IoU of the paper's tables.


@dataclasses.dataclass(frozen=True)
class AttentionScores:
  """The sweep over T_att, as fractions.

  Attributes:
    thresholds: [n] values of T_att.
    precision, recall, f1: [n] means over phrases at each threshold: the PR curve.
    phrases: how many phrases the means are over.
    dropped_share: share of phrases with boxes that no region covers.
    unattended: phrases none of whose words carries attention, left out.
  """

  thresholds: np.ndarray
  precision: np.ndarray
  recall: np.ndarray
  f1: np.ndarray
  phrases: int
  dropped_share: float
  unattended: int

  @property
  def best(self) -> int:
    """Position of the threshold with the best mean F1."""
    return int(np.argmax(self.f1))

  def as_json(self) -> dict[str, float]:
    return {
      "attention_precision": float(self.precision[self.best]),
      "attention_recall": float(self.recall[self.best]),
      "attention_f1": float(self.f1[self.best]),
      "attention_threshold": float(self.thresholds[self.best]),
      "attention_phrases": self.phrases,
      "attention_dropped_share": self.dropped_share,
    }


class AttentionScorer:
  """Collects phrases caption by caption; see `add` and `result`."""

  def __init__(
    self,
    thresholds: tuple[float, ...] = THRESHOLDS,
    iou_threshold: float = IOU,
    count_uncovered: bool = False,
  ):
    self._thresholds = np.asarray(thresholds, np.float64)
    self._iou_threshold = iou_threshold
    self._count_uncovered = count_uncovered
    self._phrases: list[np.ndarray] = []  # each [3, thresholds]
    self._pictures: list[int] = []  # of each phrase
    self._uncovered = 0
    self._unattended = 0

  def add(
    self,
    caption: records.Caption,
    attention: np.ndarray,
    boxes_px: np.ndarray,
    attended_words: np.ndarray | None = None,
    picture: int = 0,
  ) -> None:
    """Scores the phrases of one caption with its own picture.

    Args:
      caption: its phrases carry the boxes, in pixels.
      attention: [T', R] weights of its words; word t of the caption is row t, without
        rows for <start> and <end>. T' is shorter if the caption was cut.
      boxes_px: [R, 4] boxes of the regions in pixels of the original picture.
      attended_words: [T'] bool, false if a word has no attention at all (in POS-SCAN,
        words that are not nouns); all true if None.
      picture: its number, for `statistic`.
    """
    attention, boxes_px = _checked(caption, attention, boxes_px)
    if attended_words is None:
      attended_words = np.ones(len(attention), bool)
    before = len(self._phrases)
    for phrase in caption.phrases:
      if not len(phrase.boxes_px):
        continue
      rows = [t for t in range(phrase.start, min(phrase.end, len(attention))) if attended_words[t]]
      relevant = (
        box_geometry.iou(boxes_px, phrase.boxes_px).max(1, initial=0) > self._iou_threshold
      )  # [R]
      if not relevant.any():
        self._uncovered += 1
        if self._count_uncovered:
          self._phrases.append(np.zeros((3, len(self._thresholds))))
      elif not rows:
        self._unattended += 1
      else:
        self._phrases.append(phrase_scores(attention[rows], relevant, self._thresholds))
    self._pictures += [picture] * (len(self._phrases) - before)

  def statistic(self, pictures: int) -> resampling.Statistic:
    """What each of so many pictures adds to the best F1."""
    f1 = np.zeros([pictures, len(self._thresholds)])
    np.add.at(f1, self._pictures, [scores[2] for scores in self._phrases])
    return resampling.best(f1, np.bincount(self._pictures, minlength=pictures))

  def result(self) -> AttentionScores:
    """Means over everything added; a `UserError` if no phrase could be scored."""
    if not self._phrases:
      raise errors.UserError(
        "attention cannot be scored: no phrase has a box that a region covers "
        f"({self._uncovered} uncovered, {self._unattended} without attention)"
      )
    precision, recall, f1 = np.mean(self._phrases, axis=0)
    covered = len(self._phrases) - (self._uncovered if self._count_uncovered else 0)
    return AttentionScores(
      self._thresholds,
      precision,
      recall,
      f1,
      phrases=len(self._phrases),
      dropped_share=self._uncovered / (covered + self._uncovered + self._unattended),
      unattended=self._unattended,
    )


def phrase_scores(
  attention: np.ndarray, relevant: np.ndarray, thresholds: np.ndarray
) -> np.ndarray:
  """AP, AR, AF of a phrase: the maximum over its words at each threshold.

  Args:
    attention: [words, R] weights of the phrase's words.
    relevant: [R] bool, the set R; not empty.
    thresholds: [n] values of T_att.

  Returns:
    [3, n] precision, recall, F1.
  """
  attended = attention[:, None, :] > thresholds[:, None]  # [words, n, R]
  sizes = attended.sum(-1)
  common = (attended & relevant).sum(-1)
  precision = common / np.maximum(sizes, 1)
  recall = common / relevant.sum()
  f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(np.float64).tiny)
  return np.stack([precision, recall, f1]).max(1)


class AttentionAccuracy:
  """Share of annotated object words whose most attended region is their object.

  A word is right if the region of its largest weight has IoU > 0.5 with the word's box,
  the last pixel included. Averaged per object class, then over classes.
  """

  def __init__(
    self, known: Callable[[str], bool] | None = None, iou_threshold: float = 0.5
  ) -> None:
    """Words whose class is not `known` to the detector count wrong, as in the paper."""
    self._known = known
    self._iou_threshold = iou_threshold
    self._hits: dict[str, list[bool]] = collections.defaultdict(list)
    self._pictures: dict[str, list[int]] = collections.defaultdict(list)

  def add(
    self,
    caption: records.Caption,
    attention: np.ndarray,
    boxes_px: np.ndarray,
    picture: int = 0,
  ) -> None:
    """Judges the object words of one caption; words past the last row count wrong.

    Args:
      caption: its objects carry class and box.
      attention: [T', R] weights, word t in row t.
      boxes_px: [R, 4] boxes of the regions in pixels.
      picture: its number, for `statistic`.
    """
    attention, boxes_px = _checked(caption, attention, boxes_px)
    for word in caption.objects:
      hit = False
      if word.index < len(attention) and (self._known is None or self._known(word.name)):
        chosen = boxes_px[int(np.argmax(attention[word.index]))]
        hit = bool(overlap.pixel_iou(chosen, word.box_px) > self._iou_threshold)
      self._hits[word.name].append(hit)
      self._pictures[word.name].append(picture)

  def statistic(self, pictures: int) -> resampling.Statistic:
    """What each of so many pictures adds to the accuracy."""
    hits, words = np.zeros([2, pictures, len(self._hits)])
    for column, (name, found) in enumerate(self._hits.items()):
      np.add.at(hits[:, column], self._pictures[name], found)
      np.add.at(words[:, column], self._pictures[name], 1)
    return resampling.by_class(hits, words)

  def per_class(self) -> dict[str, tuple[float, int]]:
    """Accuracy and number of words of each class, most frequent first."""
    ordered = sorted(self._hits.items(), key=lambda item: (-len(item[1]), item[0]))
    return {name: (float(np.mean(hits)), len(hits)) for name, hits in ordered}

  def as_json(self) -> dict[str, float]:
    if not self._hits:
      raise errors.UserError("attention accuracy: no caption has annotated object words")
    every = [hit for hits in self._hits.values() for hit in hits]
    return {
      "attention_accuracy": float(np.mean([np.mean(hits) for hits in self._hits.values()])),
      "attention_accuracy_micro": float(np.mean(every)),
    }


def _checked(
  caption: records.Caption, attention: np.ndarray, boxes_px: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  attention, boxes_px = np.asarray(attention), np.asarray(boxes_px)
  if attention.ndim != 2 or boxes_px.shape != (attention.shape[1], 4) or not len(boxes_px):
    raise errors.UserError(
      f"caption {caption.caption_id}: attention {list(attention.shape)} does not fit "
      f"region boxes {list(boxes_px.shape)}; expected [words, regions] and [regions, 4]"
    )
  if len(attention) > len(caption.tokens):
    raise errors.UserError(
      f"caption {caption.caption_id}: {len(attention)} rows of attention for "
      f"{len(caption.tokens)} words; leave out the rows of <start> and <end>"
    )
  if not np.isfinite(attention).all():
    raise errors.UserError(f"caption {caption.caption_id}: attention is not finite")
  return attention, boxes_px
