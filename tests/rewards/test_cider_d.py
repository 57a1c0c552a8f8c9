import numpy as np
import pytest
from pycocoevalcap.cider import cider

from gcap_tf import errors
from gcap_tf.rewards import cider_d, document_frequency, ngrams
from tests.rewards import cider_d_oracle as oracle


def random_sentence(rng, words, longest=9):
  return rng.integers(0, words, rng.integers(0, longest)).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_equals_the_formula_on_fifty_caption_sets_each(seed):
  rng = np.random.default_rng(seed)
  words = int(rng.integers(2, 8))
  training = [[random_sentence(rng, words) for _ in range(3)] for _ in range(12)]
  references = {
    f"image{n}": [random_sentence(rng, words + 2) for _ in range(rng.integers(1, 6))]
    for n in range(10)
  }
  images = [f"image{rng.integers(0, 10)}" for _ in range(50)]
  captions = [random_sentence(rng, words + 3) for _ in range(48)] + [[], references[images[-1]][0]]
  frequency = oracle.document_frequency(training)
  scorer = cider_d.CiderD(references, document_frequency.DocumentFrequency.from_captions(training))
  expected = [
    oracle.cider_d(caption, references[image], frequency, len(training))
    for caption, image in zip(captions, images, strict=True)
  ]
  np.testing.assert_allclose(scorer.score(captions, images), expected, atol=1e-9)
  assert max(expected) > 0


def test_padded_rows_end_with_a_word_of_their_own():
  rng = np.random.default_rng(1)

  def rows(count):
    lengths = rng.integers(0, 7, count)
    return np.where(np.arange(6) < lengths[:, None], rng.integers(1, 6, (count, 6)), 0)

  def as_lists(rows, include_end):
    lists = []
    for row in rows.tolist():
      cut = row.index(0) if 0 in row else len(row)
      lists.append(row[: cut + include_end])
    return lists

  references = {n: rows(5) for n in range(8)}
  captions, images = rows(30), [n % 8 for n in range(30)]
  for include_end in (True, False):
    frequency = document_frequency.DocumentFrequency.from_captions(references.values(), include_end)
    lists = {n: as_lists(value, include_end) for n, value in references.items()}
    expected = [
      oracle.cider_d(caption, lists[image], oracle.document_frequency(lists.values()), 8)
      for caption, image in zip(as_lists(captions, include_end), images, strict=True)
    ]
    scorer = cider_d.CiderD(references, frequency, include_end)
    np.testing.assert_allclose(scorer.score(captions, images), expected, atol=1e-9)


def test_text_scores_equal_those_of_the_standard_tool():
  rng = np.random.default_rng(2)
  words = ["a", "dog", "runs", "man", "hat", "the", "red"]

  def sentence():
    return " ".join(words[i] for i in rng.integers(0, len(words), rng.integers(1, 10)))

  references = {n: [sentence() for _ in range(5)] for n in range(40)}
  captions = {n: [sentence()] for n in references}
  _, expected = cider.Cider().compute_score(references, captions)
  ids = ngrams.WordIds()
  numbered = {n: [ids(text) for text in texts] for n, texts in references.items()}
  frequency = document_frequency.DocumentFrequency.from_captions(numbered.values())
  scores = cider_d.CiderD(numbered, frequency).score(
    [ids(captions[n][0]) for n in references], list(references)
  )
  np.testing.assert_allclose(scores, expected, atol=1e-9)


def test_a_perfect_caption_of_a_rare_kind_scores_ten():
  references = {0: [[1, 2, 3, 4, 5]], 1: [[6, 7, 8, 9]]}
  frequency = document_frequency.DocumentFrequency.from_captions(references.values())
  scorer = cider_d.CiderD(references, frequency)
  np.testing.assert_allclose(scorer.score([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]], [0, 1]), [10, 0])


def test_scores_do_not_depend_on_who_shares_the_batch():
  rng = np.random.default_rng(3)
  references = {n: [random_sentence(rng, 5, 8) for _ in range(4)] for n in range(6)}
  frequency = document_frequency.DocumentFrequency.from_captions(references.values())
  scorer = cider_d.CiderD(references, frequency)
  captions, images = [random_sentence(rng, 6) for _ in range(20)], [n % 6 for n in range(20)]
  together = scorer.score(captions, images)
  alone = [scorer.score([c], [i])[0] for c, i in zip(captions, images, strict=True)]
  np.testing.assert_allclose(together, alone, atol=1e-12)


def test_an_empty_batch_has_no_scores():
  frequency = document_frequency.DocumentFrequency.from_captions([[[1]]])
  assert cider_d.CiderD({0: [[1]]}, frequency).score([], []).shape == (0,)


def test_unknown_pictures_and_pictures_without_references_are_named():
  frequency = document_frequency.DocumentFrequency.from_captions([[[1]]])
  with pytest.raises(errors.UserError, match="picture p2 has no references"):
    cider_d.CiderD({"p1": [[1]]}, frequency).score([[1]], ["p2"])
  with pytest.raises(errors.UserError, match="picture p1 has no reference"):
    cider_d.CiderD({"p1": []}, frequency)
