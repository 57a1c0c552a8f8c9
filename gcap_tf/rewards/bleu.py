"""BLEU-4 of single captions (Papineni et al., ACL 2002), as a reward.

    BLEU-4 = (Π_{n=1..4} p_n)^(1/4) exp(min(0, 1 - r / c))
    p_n = Σ_w min(count_w(c), max_s count_w(s)) / (number of n-grams of c)

c is the caption and its length, s a reference, and r the length of the reference that is
nearest in length (the shorter one of two). Tiny constants keep the score of a caption without
a common 4-gram just above 0, as in the usual scorer.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from gcap_tf import errors
from gcap_tf.rewards import ngrams

_SMALL, _TINY = 1e-9, 1e-15


class Bleu4:
  """Scores captions of pictures whose references are known.

  Args:
    references: picture -> its references: padded rows [m, T] or lists of ids.
    include_end: whether the 0 that ends a padded row counts as a word, as in
      `cider_d.CiderD`.
  """

  def __init__(self, references: Mapping[Hashable, ngrams.Sentences], include_end: bool = True):
    self._references, self._include_end = references, include_end
    self._prepared: dict[Hashable, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

  def score(self, captions: ngrams.Sentences, images: Sequence[Hashable]) -> np.ndarray:
    """BLEU-4 of each caption against the references of its picture: [B], from 0 to 1."""
    ids, lengths = ngrams.flatten(captions, self._include_end)
    sentence, keys = ngrams.extract(ids, lengths)
    by_sentence = np.argsort(sentence, kind="stable")
    keys = keys[by_sentence]
    first = np.searchsorted(sentence[by_sentence], np.arange(len(lengths) + 1))
    return np.array([
      self._score_one(keys[first[n] : first[n + 1]], int(lengths[n]), image)
      for n, image in enumerate(images)
    ])  # fmt: skip

  def _score_one(self, keys: np.ndarray, length: int, image: Hashable) -> float:
    known, most, reference_lengths = self._prepare(image)
    distinct, counts = np.unique(keys, return_counts=True)
    place = np.minimum(np.searchsorted(known, distinct), max(len(known) - 1, 0))
    if len(known):
      common = np.where(known[place] == distinct, np.minimum(counts, most[place]), 0)
    else:
      common = np.zeros(len(distinct))
    correct = np.bincount(ngrams.order_of(distinct), common, ngrams.ORDER)
    guessed = np.maximum(length - np.arange(ngrams.ORDER), 0)
    precision = np.prod((correct + _TINY) / (guessed + _SMALL)) ** (1 / ngrams.ORDER)
    nearest = min(reference_lengths, key=lambda size: (abs(size - length), size))
    ratio = (length + _TINY) / (nearest + _SMALL)
    return float(precision * (np.exp(1 - 1 / ratio) if ratio < 1 else 1.0))

  def _prepare(self, image: Hashable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """N-grams of a picture's references, the largest count of each in one, and lengths."""
    if image not in self._prepared:
      if image not in self._references or not len(self._references[image]):
        raise errors.UserError(f"BLEU: picture {image} has no references")
      ids, lengths = ngrams.flatten(self._references[image], self._include_end)
      sentence, keys = ngrams.extract(ids, lengths)
      known, dense = np.unique(keys, return_inverse=True)
      counts = np.zeros([len(lengths), len(known)], np.int64)
      np.add.at(counts, (sentence, dense), 1)
      self._prepared[image] = known, counts.max(0), lengths
    return self._prepared[image]
