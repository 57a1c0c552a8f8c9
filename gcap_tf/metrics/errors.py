"""Five kinds of words (Distributed Attention for Grounded Image Captioning, ACM MM 2021,
arXiv:2108.01056, Sec. 4.5): what explains a grounding score.

    missing       annotated words whose class the caption does not name
    hallucinated  predicted words whose class the reference sentence does not have
    correct       rightly named, IoU > 0.5
    partial       rightly named, IoU <= 0.5, the predicted box inside the annotated box
    other         rightly named, and neither

The five share one denominator and sum to 1. Words are those of the official evaluator
(`grounding_events`): each caption against each reference sentence; predicted words that
the sentence mentions without a box are left out, and so are pictures that were not
submitted. The words that are rightly named are counted on the predicted side.
"""

import dataclasses

import numpy as np

from gcap_tf.metrics import grounding_events


@dataclasses.dataclass(frozen=True)
class ErrorShares:
  """Shares of the five kinds, fractions from 0 to 1.

  Attributes:
    missing, hallucinated, correct, partial, other: sum to 1 (all 0 without words).
    enlarged: part of `other` in which the annotated box lies inside the predicted one.
    words: the denominator.
  """

  missing: float
  hallucinated: float
  correct: float
  partial: float
  other: float
  enlarged: float
  words: int

  @property
  def deviated(self) -> float:
    """Part of `other` that is neither inside nor around the annotated box."""
    return self.other - self.enlarged

  def as_json(self) -> dict[str, float]:
    return {
      "error_missing": self.missing,
      "error_hallucinated": self.hallucinated,
      "error_correct": self.correct,
      "error_partial": self.partial,
      "error_other": self.other,
    }


def error_shares(events: grounding_events.Collected) -> ErrorShares:
  """Counts the five kinds over collected events."""
  named, language = grounding_events.MATCHED, grounding_events.LANGUAGE
  side = events.precision
  matched = side.kind == named
  counts = {
    "missing": np.count_nonzero(events.recall.kind == language),
    "hallucinated": np.count_nonzero(side.kind == language),
    "correct": np.count_nonzero(side.hit),
    "partial": np.count_nonzero(side.partial),
    "other": np.count_nonzero(matched & ~side.hit & ~side.partial),
  }
  words = sum(counts.values())
  shares = {name: count / max(words, 1) for name, count in counts.items()}
  enlarged = np.count_nonzero(side.enlarged) / max(words, 1)
  return ErrorShares(**shares, enlarged=enlarged, words=words)
