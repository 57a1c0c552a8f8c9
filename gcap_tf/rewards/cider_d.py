"""CIDEr-D (Vedantam et al., CVPR 2015, arXiv:1411.5726) over a batch of captions.

For n = 1..4, w over n-grams, c a caption, s one of its m references:

    g_w(c) = count_w(c) (ln |I| - ln max(1, df_w))
    sim_n(c, s) = sum_w min(g_w(c), g_w(s)) g_w(s) / (|g(c)| |g(s)|)
                  exp(-(l(c) - l(s))^2 / (2 sigma^2))
    CIDEr-D(c) = 10 mean_n mean_s sim_n(c, s)

As in the released code, l counts bigrams, and captions are token ids that end with 0 (the
end of the sentence counts as a word), unless the row is too short for it.

The scorer computes the weights of all references once; scoring a batch then needs one search
and a few sums, in NumPy. A reference takes about 400 bytes.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from gcap_tf import errors
from gcap_tf.rewards import document_frequency, ngrams


class CiderD:
  """Scores captions of pictures whose references are known.

  Args:
    references: picture -> its references: padded rows [m, T] or lists of ids, see
      `ngrams.flatten`.
    frequency: document frequencies of the training captions.
    include_end: whether the 0 that ends a padded row counts as a word; it does in the
      training of the released code.
    sigma: width of the length penalty.
  """

  def __init__(
    self,
    references: Mapping[Hashable, ngrams.Sentences],
    frequency: document_frequency.DocumentFrequency,
    include_end: bool = True,
    sigma: float = 6.0,
  ):
    self._include_end = include_end
    self._sigma = sigma
    self._slots = {image: slot for slot, image in enumerate(references)}
    counts, ids, lengths = [], [], []
    for image, sentences in references.items():
      if not len(sentences):
        raise errors.UserError(f"CIDEr-D: picture {image} has no reference")
      flat, sizes = ngrams.flatten(sentences, include_end)
      ids.append(flat)
      lengths.append(sizes)
      counts.append(len(sizes))
    if not counts:
      raise errors.UserError("CIDEr-D needs the references of at least one picture")
    sentence, keys = ngrams.extract(np.concatenate(ids), np.concatenate(lengths))
    self._keys = np.unique(keys)
    self._idf = frequency.of(self._keys)
    self._order = ngrams.order_of(self._keys)
    self._frequency = frequency
    self._first_reference = np.concatenate([[0], np.cumsum(counts)])

    dense = np.searchsorted(self._keys, keys)
    sentence, dense, term = _count(sentence, dense, len(self._keys))
    weight = term * self._idf[dense]
    total = self._first_reference[-1]
    self._norm = _norms(sentence, self._order[dense], weight, total)
    self._length = _bigrams(np.concatenate(lengths))
    # Entries of a picture are adjacent, sorted by n-gram.
    slot = np.repeat(np.arange(len(counts)), counts)[sentence]
    by_picture = np.lexsort((dense, slot))
    self._entry_gram = dense[by_picture].astype(np.int32)
    self._entry_reference = sentence[by_picture].astype(np.int32)
    self._entry_weight = weight[by_picture]
    self._first_entry = np.searchsorted(slot[by_picture], np.arange(len(counts) + 1))

  def score(self, captions: ngrams.Sentences, images: Sequence[Hashable]) -> np.ndarray:
    """CIDEr-D of each caption against the references of its picture.

    Args:
      captions: padded rows [B, T] or B lists of ids.
      images: [B] the picture of each caption.

    Returns:
      [B] float64, from 0 to 10.
    """
    ids, lengths = ngrams.flatten(captions, self._include_end)
    slots = self._slots_of(images, len(lengths))
    caption, keys = ngrams.extract(ids, lengths)
    distinct, dense = np.unique(keys, return_inverse=True)
    caption, dense, term = _count(caption, dense, max(len(distinct), 1))
    weight = term * self._frequency.of(distinct)[dense]
    order = ngrams.order_of(distinct)[dense]
    norm = _norms(caption, order, weight, len(lengths))  # [B, 4]

    entry, reference = self._common_entries(distinct, dense, slots[caption])
    products = (
      np.minimum(weight[entry], self._entry_weight[reference]) * self._entry_weight[reference]
    )
    pair_caption, pair_reference, first_pair = self._pairs(slots)
    chosen = caption[entry]
    local = self._entry_reference[reference] - self._first_reference[slots[chosen]]
    pair = first_pair[chosen] + local
    pairs = len(pair_caption)
    sums = np.bincount(pair * ngrams.ORDER + order[entry], products, pairs * ngrams.ORDER)
    scale = norm[pair_caption] * self._norm[pair_reference]
    similarity = sums.reshape(pairs, ngrams.ORDER) / np.where(scale == 0, 1.0, scale)
    gap = (_bigrams(lengths)[pair_caption] - self._length[pair_reference]).astype(np.float64)
    similarity *= np.exp(-(gap**2) / (2 * self._sigma**2))[:, None]
    total = np.bincount(pair_caption, similarity.mean(1), len(lengths))
    return 10.0 * total / np.diff(first_pair)

  def _slots_of(self, images: Sequence[Hashable], count: int) -> np.ndarray:
    if len(images) != count:
      raise ValueError(f"{count} captions but {len(images)} pictures")
    try:
      return np.array([self._slots[image] for image in images], np.int64)
    except KeyError as error:
      raise errors.UserError(f"CIDEr-D: picture {error.args[0]} has no references") from None

  def _pairs(self, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Caption and reference of every pair to compare, and each caption's first pair."""
    counts = self._first_reference[slots + 1] - self._first_reference[slots]
    first = np.concatenate([[0], np.cumsum(counts)])
    caption = np.repeat(np.arange(len(slots)), counts)
    reference = np.arange(first[-1]) - first[caption] + self._first_reference[slots][caption]
    return caption, reference, first

  def _common_entries(
    self, distinct: np.ndarray, dense: np.ndarray, slots: np.ndarray
  ) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a caption's n-gram and the same n-gram in a reference of its picture.

    Args:
      distinct: [U] n-gram keys of the batch.
      dense: [N] position in `distinct` of each entry.
      slots: [N] picture of each entry.

    Returns:
      Positions of caption entries and of reference entries, [M] each.
    """
    place = np.minimum(np.searchsorted(self._keys, distinct), len(self._keys) - 1)
    place = np.where(self._keys[place] == distinct, place, -1)
    gram = place[dense]
    known = np.flatnonzero(gram >= 0)
    used, local = np.unique(slots[known], return_inverse=True)
    starts, ends = self._first_entry[used], self._first_entry[used + 1]
    rows = _ranges(starts, ends - starts)
    width = len(self._keys)
    sought = local * width + gram[known]
    stored = np.repeat(np.arange(len(used)), ends - starts) * width + self._entry_gram[rows]
    low, high = np.searchsorted(stored, sought), np.searchsorted(stored, sought, side="right")
    return np.repeat(known, high - low), rows[_ranges(low, high - low)]


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
  """The numbers start, start + 1, .. of all ranges, joined."""
  offsets = np.cumsum(counts) - counts
  return np.arange(counts.sum()) + np.repeat(starts - offsets, counts)


def _count(
  sentence: np.ndarray, dense: np.ndarray, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """Distinct pairs of sentence and n-gram, and how often each occurs."""
  both, term = np.unique(sentence * width + dense, return_counts=True)
  return both // width, both % width, term


def _norms(
  sentence: np.ndarray, order: np.ndarray, weight: np.ndarray, sentences: int
) -> np.ndarray:
  """|g_n| of each sentence: [sentences, 4]."""
  squares = np.bincount(sentence * ngrams.ORDER + order, weight**2, sentences * ngrams.ORDER)
  return np.sqrt(squares).reshape(-1, ngrams.ORDER)


def _bigrams(lengths: np.ndarray) -> np.ndarray:
  return np.maximum(lengths - 1, 0)
