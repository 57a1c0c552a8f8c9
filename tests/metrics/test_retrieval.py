import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gcap_tf import errors
from gcap_tf.metrics import retrieval


def naive(similarity, owner):
  """Both directions by sorting, wrong answers before right ones among equals."""
  images, captions = similarity.shape
  ranks = {"i2t": [], "t2i": []}
  for i in range(images):
    if i in owner:
      order = sorted(range(captions), key=lambda c: (-similarity[i, c], owner[c] == i))
      ranks["i2t"].append(next(p for p, c in enumerate(order) if owner[c] == i))
  for c in range(captions):
    order = sorted(range(images), key=lambda i: (-similarity[i, c], owner[c] == i))
    ranks["t2i"].append(order.index(owner[c]))
  scores = {}
  for direction, values in ranks.items():
    for k in (1, 5, 10):
      scores[f"{direction}_r{k}"] = 100 * sum(v < k for v in values) / len(values)
    middle = sorted(values)
    half = len(values) // 2
    median = middle[half] if len(values) % 2 else (middle[half - 1] + middle[half]) / 2
    scores[f"{direction}_medr"] = median // 1 + 1
    scores[f"{direction}_meanr"] = sum(values) / len(values) + 1
  return scores


def test_golden_ranking_of_the_official_functions():
  i, j = np.arange(20)[:, None], np.arange(100)[None, :]
  similarity = np.sin(i * j + 0.1 * j) + 1.2 * (j // 5 == i) * np.cos(j)
  scores = retrieval.retrieval(similarity, np.arange(100) // 5)
  expected = {
    "i2t_r1": 70, "i2t_r5": 70, "i2t_r10": 70, "i2t_medr": 1, "i2t_meanr": 9.95,
    "t2i_r1": 22, "t2i_r5": 28, "t2i_r10": 48, "t2i_medr": 11, "t2i_meanr": 10.46,
    "rsum": 308, "i2t_tied": 0, "t2i_tied": 0,
  }  # fmt: skip
  assert scores == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 8), st.integers(1, 14), st.integers(0, 10_000))
def test_equals_sorting_with_any_number_of_captions_and_with_ties(images, captions, seed):
  rng = np.random.default_rng(seed)
  similarity = rng.integers(0, 5, (images, captions)).astype(float)
  owner = rng.integers(0, images, captions)
  scores = retrieval.retrieval(similarity, owner)
  for name, value in naive(similarity, owner).items():
    assert scores[name] == pytest.approx(value), name


def test_a_constant_matcher_finds_nothing_and_is_called_tied():
  scores = retrieval.retrieval(np.zeros((20, 100)), np.arange(100) // 5)
  assert scores["rsum"] == 0
  assert scores["i2t_tied"] == scores["t2i_tied"] == 100


def test_own_captions_that_tie_cost_nothing():
  scores = retrieval.retrieval(np.array([[2.0, 2.0, 1.0], [0.0, 0.0, 3.0]]), np.array([0, 0, 1]))
  assert scores["i2t_r1"] == scores["t2i_r1"] == 100
  assert scores["i2t_tied"] == 0


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused_by_place(broken):
  similarity = np.zeros((2, 4))
  similarity[1, 3] = broken
  with pytest.raises(errors.UserError, match="picture 1 and caption 3"):
    retrieval.retrieval(similarity, np.array([0, 0, 1, 1]))


def test_wrong_owners_are_refused():
  with pytest.raises(errors.UserError, match="name pictures 0 to 2"):
    retrieval.retrieval(np.zeros((2, 3)), np.array([0, 1, 2]))
  with pytest.raises(errors.UserError, match="one picture index per caption"):
    retrieval.retrieval(np.zeros((2, 3)), np.array([0, 1]))


def test_five_folds_are_means_of_consecutive_pictures_whatever_the_caption_order():
  rng = np.random.default_rng(0)
  similarity, owner = rng.normal(size=(10, 30)), np.arange(30) // 3
  folds = [
    retrieval.retrieval(similarity[2 * f : 2 * f + 2, 6 * f : 6 * f + 6], np.arange(6) // 3)
    for f in range(5)
  ]
  scores = retrieval.five_fold(similarity, owner)
  assert scores["t2i_r1"] == pytest.approx(np.mean([fold["t2i_r1"] for fold in folds]))
  assert scores["rsum"] == pytest.approx(np.mean([fold["rsum"] for fold in folds]))
  order = rng.permutation(30)
  assert retrieval.five_fold(similarity[:, order], owner[order]) == pytest.approx(scores)


def test_pictures_that_do_not_divide_into_folds_are_refused():
  with pytest.raises(errors.UserError, match="7 pictures do not divide into 5 folds"):
    retrieval.five_fold(np.zeros((7, 7)), np.arange(7))
