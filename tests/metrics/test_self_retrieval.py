"""Tests of gcap_tf/metrics/self_retrieval.py."""

import numpy as np
import pytest

from gcap_tf.captioners import catalog, likelihood
from gcap_tf.metrics import self_retrieval
from tests import captioner_harness

# Two captions share "1 2", one is the beginning of another, two are equal, one is empty, and
# the last fills its row, so it has no end.
TOKENS = np.array(
  [
    [1, 2, 3, 0, 0],
    [1, 2, 4, 5, 0],
    [1, 2, 0, 0, 0],
    [1, 2, 3, 0, 0],
    [0, 0, 0, 0, 0],
    [6, 2, 3, 0, 0],
    [6, 6, 6, 6, 6],
  ],
  np.int32,
)


def test_beginnings_are_shared():
  tree = self_retrieval.CaptionTree.build(TOKENS)
  # "", {1, 6}, {12, 62, 66}, {123, 124, 623, 666}, {1245, 6666}
  assert [len(level.token) for level in tree.levels] == [1, 2, 3, 4, 2]
  assert tree.width == 4 and tree.nodes == 12
  assert [len(level.caption) for level in tree.levels] == [7, 6, 6, 5, 2]


@pytest.mark.parametrize("name", ["distributed", "neuraltalk2"])
def test_scores_are_those_of_each_pair_alone(name):
  captioner_harness.fix_start()
  batch = captioner_harness.make_batch()
  cls = catalog.CAPTIONERS.get(name)
  sizes = {"embedding_size": 8, "hidden_size": 9, "feature_size": 7, "vocabulary_size": 11}
  model = cls(cls.Config(**sizes))
  found = self_retrieval.PairScorer(model).scores(batch, self_retrieval.CaptionTree.build(TOKENS))
  memory = model.encode(batch)
  expected = likelihood.caption_log_probs(model, memory, np.tile(TOKENS, [3, 1])).numpy()
  np.testing.assert_allclose(found, expected.reshape(3, 7), rtol=1e-4)


def test_recall_counts_captions_whose_picture_is_among_the_first():
  scores = -np.ones([6, 6])
  # Columns are captions. Caption 0 finds its picture first, 1 second, 2 ties with all others,
  # which are taken to be before it; 3 to 5 find theirs last.
  scores[0, 0] = 0
  scores[[1, 3], 1] = [0, 1]
  scores[:, 2] = 0
  for caption in (3, 4, 5):
    scores[caption, caption] = -2
  found = self_retrieval.recalls(scores)
  assert found["self_retrieval_1"] == pytest.approx(100 / 6)
  assert found["self_retrieval_5"] == pytest.approx(200 / 6)
  assert found["self_retrieval_50"] == found["self_retrieval_500"] == 100
