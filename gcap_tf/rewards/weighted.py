"""The reward of a caption: a weighted sum of named terms.

    r(y) = Σ_n w_n r_n(y)        "cider:1,matcher:1" is r = CIDEr-D + λ2 S with λ2 = 1, which
                                 is POS-SCAN's reward (Zhou et al., CVPR 2020, Eq. 19)

cider    CIDEr-D, 0 to 10; about 1 for a good caption             cider_d.py
matcher  a matcher's score of picture and caption, about 0 to 1   matcher_score.py
objects  object words that references name, too; others cost      object_mentions.py
bleu     BLEU-4 of one caption, 0 to 1                            bleu.py
spice    SPICE, 0 to 1; needs Java, and seconds for every step    spice.py
"""

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from gcap_tf import errors

TERMS = ("cider", "matcher", "objects", "bleu", "spice")


class Term(Protocol):
  """Scores captions by comparing them with the references of their pictures."""

  def score(self, captions: np.ndarray, images: Sequence[str]) -> np.ndarray:
    """Scores [B] of padded rows [B, T]; `images` [B] names the picture of each."""


def parse(text: str) -> dict[str, float]:
  """The weights in "cider:1,matcher:0.5"; a name without a number has weight 1."""
  weights: dict[str, float] = {}
  for part in text.split(","):
    name, _, number = part.strip().partition(":")
    if name not in TERMS:
      near = difflib.get_close_matches(name, TERMS, n=1)
      hint = f' (did you mean "{near[0]}"?)' if near else ""
      raise errors.UserError(f'unknown reward "{name}"; known: {", ".join(TERMS)}{hint}')
    if name in weights:
      raise errors.UserError(f'rewards "{text}" name {name} twice')
    try:
      weights[name] = float(number or 1)
    except ValueError:
      weights[name] = math.nan
    if not math.isfinite(weights[name]) or weights[name] == 0:
      raise errors.UserError(
        f'reward {name} has the weight "{number}"; expected a number other than 0, as in {name}:1'
      )
  return weights


class WeightedSum:
  """r(y) and its terms.

  Args:
    weights: the weight of every term.
    terms: the terms that compare captions with references; `score` receives the others.
  """

  def __init__(self, weights: Mapping[str, float], terms: Mapping[str, Term]):
    self.weights, self._terms = dict(weights), dict(terms)

  def score(
    self, captions: np.ndarray, images: Sequence[str], given: Mapping[str, np.ndarray]
  ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The total [B], and each term [B] without its weight.

    Args:
      captions: padded rows [B, T].
      images: the picture of each, [B].
      given: scores [B] of terms that are computed elsewhere (the matcher's).
    """
    each = {
      name: given[name] if name in given else self._terms[name].score(captions, images)
      for name in self.weights
    }
    total = np.zeros(len(images))
    for name, weight in self.weights.items():
      total += weight * each[name]
    return total, each
