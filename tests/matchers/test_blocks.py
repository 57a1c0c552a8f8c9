"""Similarity in blocks: the same numbers, whatever the blocks."""

import numpy as np
import pytest

from gcap_tf.matchers import bfan, blocks, scan, sgraf
from tests import matcher_harness

BATCH = matcher_harness.example_batch(images=9, words=9)
MAKERS = {
  "scan": lambda: matcher_harness.small(scan.SCANMatcher),
  "bfan": lambda: matcher_harness.small(bfan.BFANMatcher),
  "sgraf": lambda: matcher_harness.small(sgraf.SGRAFMatcher, similarity_size=4),
}


def encoded(matcher):
  return [
    {name: tensor.numpy() for name, tensor in part.items()}
    for part in (matcher.encode_images(BATCH), matcher.encode_captions(BATCH))
  ]


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_small_blocks_give_the_scores_of_one_block(name, monkeypatch):
  matcher = MAKERS[name]()
  images, captions = encoded(matcher)
  expected = matcher_harness.similarity(matcher, BATCH)
  np.testing.assert_allclose(
    blocks.similarity_matrix(matcher, images, captions), expected, atol=2e-6
  )
  monkeypatch.setattr(blocks, "IMAGES_OF_BLOCK", 2)
  monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 2 * 6 * 12)
  small = blocks.similarity_matrix(matcher, images, captions)
  np.testing.assert_allclose(small, expected, atol=2e-6)


def test_a_store_filled_batch_by_batch_scores_like_arrays():
  matcher = MAKERS["scan"]()
  images, captions = encoded(matcher)
  store = blocks.CaptionStore()
  for rows in (slice(0, 4), slice(4, 9)):
    store.add({name: array[rows] for name, array in captions.items()})
  assert len(store) == 9
  np.testing.assert_array_equal(store.lengths(), captions["word_mask"].sum(1))
  np.testing.assert_allclose(
    blocks.similarity_matrix(matcher, images, store),
    blocks.similarity_matrix(matcher, images, captions),
    atol=1e-6,
  )


def test_every_caption_is_in_one_block_of_similar_lengths(monkeypatch):
  monkeypatch.setattr(blocks, "IMAGES_OF_BLOCK", 1)
  monkeypatch.setattr(blocks, "BLOCK_NUMBERS", 100)
  lengths = np.array([3, 20, 5, 9, 20, 4, 3])
  groups = blocks.caption_blocks(lengths, regions=2)
  assert sorted(np.concatenate(groups)) == list(range(7))
  for group in groups:
    assert lengths[group].max() * len(group) * 2 <= 100 or len(group) == 1
  assert groups[0].tolist() == [1, 4]
