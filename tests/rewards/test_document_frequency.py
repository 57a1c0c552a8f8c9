import collections
import math
import os
import pickle

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.rewards import document_frequency, ngrams
from tests.rewards import cider_d_oracle as oracle


def table(frequency):
  return dict(zip(frequency.keys.tolist(), frequency.counts.tolist(), strict=True))


def test_counts_pictures_not_occurrences():
  pictures = [[[1, 2, 1, 2], [1, 2]], [[2, 0]], [[3]]]
  frequency = document_frequency.DocumentFrequency.from_captions(pictures)
  expected = oracle.document_frequency(pictures)
  assert table(frequency) == {ngrams.pack(gram): n for gram, n in expected.items()}
  assert frequency.images == 3


def test_idf_of_seen_and_unseen_ngrams():
  frequency = document_frequency.DocumentFrequency.from_captions([[[1]], [[1, 2]]])
  keys = np.array([ngrams.pack(gram) for gram in [(1,), (2,), (9,)]], np.uint64)
  np.testing.assert_allclose(frequency.of(keys), [0.0, math.log(2), math.log(2)])


def test_padded_rows_count_their_end():
  frequency = document_frequency.DocumentFrequency.from_captions([np.array([[1, 0, 0]])])
  assert set(table(frequency)) == {ngrams.pack(gram) for gram in [(1,), (0,), (1, 0)]}


def test_a_saved_table_knows_its_vocabulary(tmp_path):
  frequency = document_frequency.DocumentFrequency.from_captions([[[1, 2]], [[2]]])
  path = tmp_path / "df.npz"
  frequency.save(path, "abc")
  again = document_frequency.DocumentFrequency.load(path, "abc")
  assert table(again) == table(frequency)
  assert again.images == 2
  with pytest.raises(errors.UserError, match="belong to vocabulary abc, the run has xyz"):
    document_frequency.DocumentFrequency.load(path, "xyz")
  path.write_bytes(path.read_bytes()[:40])
  with pytest.raises(errors.UserError, match="are damaged"):
    document_frequency.DocumentFrequency.load(path, "abc")


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_the_fields_pickles_are_read(tmp_path, protocol):
  counts = collections.defaultdict(float)
  counts["12", "7"] += 3
  counts[("0",)] += 5
  path = tmp_path / "train-idxs.p"
  value = {"document_frequency": counts, "ref_len": 100}
  path.write_bytes(pickle.dumps(value, protocol=protocol))
  frequency = document_frequency.read_pickle(path)
  assert table(frequency) == {ngrams.pack((12, 7)): 3, ngrams.pack((0,)): 5}
  assert frequency.images == 100


def test_pickles_of_words_take_a_vocabulary(tmp_path):
  path = tmp_path / "train-words.p"
  path.write_bytes(pickle.dumps({"document_frequency": {("a", "dog"): 3}, "ref_len": 10}))
  frequency = document_frequency.read_pickle(path, {"a": 1, "dog": 2}.__getitem__)
  assert table(frequency) == {ngrams.pack((1, 2)): 3}
  with pytest.raises(errors.UserError, match="not a table of n-gram counts"):
    document_frequency.read_pickle(path)


class Hostile:
  def __reduce__(self):
    return os.getenv, ("HOME",)


def test_pickles_that_would_run_something_are_refused(tmp_path):
  path = tmp_path / "hostile.p"
  path.write_bytes(pickle.dumps({"document_frequency": Hostile(), "ref_len": 1}))
  with pytest.raises(errors.UserError, match=r"hostile\.p: refused to unpickle"):
    document_frequency.read_pickle(path)


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps([1]), pickle.dumps({})])
def test_broken_pickles_are_named(tmp_path, content):
  path = tmp_path / "broken.p"
  path.write_bytes(content)
  with pytest.raises(errors.UserError, match=r"broken\.p"):
    document_frequency.read_pickle(path)
