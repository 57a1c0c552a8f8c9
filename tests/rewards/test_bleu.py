"""Tests of gcap_tf/rewards/bleu.py."""

import numpy as np
import pytest
from pycocoevalcap.bleu import bleu as standard

from gcap_tf import errors
from gcap_tf.rewards import bleu


def sentence(rng, longest=9):
  return rng.integers(1, 6, rng.integers(1, longest)).tolist()


def as_text(ids):
  return " ".join(map(str, ids))


@pytest.mark.parametrize("seed", range(3))
def test_scores_equal_those_of_the_standard_tool(seed):
  rng = np.random.default_rng(seed)
  references = {n: [sentence(rng) for _ in range(rng.integers(1, 5))] for n in range(40)}
  captions = [sentence(rng, 12) for _ in references]
  captions[0] = references[0][0]
  _, expected = standard.Bleu(4).compute_score(
    {n: [as_text(r) for r in rows] for n, rows in references.items()},
    {n: [as_text(captions[n])] for n in references},
    verbose=0,
  )
  found = bleu.Bleu4(references).score(captions, list(references))
  np.testing.assert_allclose(found, expected[3], rtol=1e-6, atol=1e-12)
  assert found.max() > 0.3


def test_padded_rows_end_with_a_word_of_their_own():
  references = {0: np.array([[1, 2, 3, 0, 0]])}
  captions = np.array([[1, 2, 3, 0], [1, 2, 3, 4]])
  found = bleu.Bleu4(references).score(captions, [0, 0])
  np.testing.assert_allclose(found[0], 1.0, rtol=1e-6)
  assert found[1] < 0.01


def test_a_caption_without_words_scores_nothing():
  references = {0: [[1, 2, 3, 4]]}
  assert bleu.Bleu4(references).score([[]], [0])[0] < 1e-3


def test_a_picture_without_references_is_named():
  with pytest.raises(errors.UserError, match="picture p2 has no references"):
    bleu.Bleu4({"p1": [[1]]}).score([[1]], ["p2"])
