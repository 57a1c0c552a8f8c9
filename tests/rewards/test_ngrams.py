import collections

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.rewards import ngrams
from tests.rewards import cider_d_oracle as oracle


def test_rows_are_cut_after_their_first_zero():
  rows = np.array([[5, 6, 0, 0], [0, 0, 0, 0], [1, 2, 3, 4]])
  ids, lengths = ngrams.flatten(rows)
  assert ids.tolist() == [5, 6, 0, 0, 1, 2, 3, 4]
  assert lengths.tolist() == [3, 1, 4]
  ids, lengths = ngrams.flatten(rows, include_end=False)
  assert ids.tolist() == [5, 6, 1, 2, 3, 4]
  assert lengths.tolist() == [2, 0, 4]


def test_lists_are_taken_whole():
  ids, lengths = ngrams.flatten([[5, 0, 6], []])
  assert (ids.tolist(), lengths.tolist()) == ([5, 0, 6], [3, 0])


@pytest.mark.parametrize("seed", range(20))
def test_ngrams_equal_those_of_a_loop(seed):
  rng = np.random.default_rng(seed)
  sentences = [rng.integers(0, 4, rng.integers(0, 7)).tolist() for _ in range(5)]
  owner, keys = ngrams.extract(*ngrams.flatten(sentences))
  found = collections.Counter(zip(owner.tolist(), keys.tolist(), strict=True))
  expected = collections.Counter()
  for row, sentence in enumerate(sentences):
    for gram, count in oracle.counts(sentence).items():
      expected[row, ngrams.pack(gram)] += count
  assert found == expected


def test_orders_are_read_off_the_keys():
  grams = [(0,), (ngrams.MAX_ID,), (0, 0), (7, ngrams.MAX_ID), (0, 0, 0), (1, 2, 3, 4)]
  keys = np.array([ngrams.pack(gram) for gram in grams], np.uint64)
  assert ngrams.order_of(keys).tolist() == [0, 0, 1, 1, 2, 3]
  full = np.array([ngrams.pack([ngrams.MAX_ID] * 4)], np.uint64)
  assert ngrams.order_of(full).tolist() == [3]


def test_ids_that_do_not_fit_are_refused():
  for bad in (-1, ngrams.MAX_ID + 1):
    with pytest.raises(errors.UserError, match="n-grams take ids from 0"):
      ngrams.flatten([[1, bad]])


def test_words_are_numbered_as_they_come():
  ids = ngrams.WordIds()
  assert ids("a dog and a cat") == [1, 2, 3, 1, 4]
  assert ids("cat dog") == [4, 2]
