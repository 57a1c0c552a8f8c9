"""PFAN: the contract, golden numbers, blocks of boxes."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.matchers import pfan
from tests import matcher_harness
from tests.layers import golden
from tests.layers.golden import sine

BATCH = matcher_harness.example_batch()


@pytest.mark.parametrize(
  "options",
  [{}, {"direction": "i2t"}, {"mask_pads": True}, {"single_softmax": True}],
)
def test_the_contract(options):
  matcher_harness.check_matcher(
    lambda: matcher_harness.small(pfan.PFANMatcher, position_size=4, **options), BATCH
  )


def test_golden_scores_with_the_bonus():
  v, e, mask = (tf.constant(x) for x in golden.inputs())
  images = {"regions": v, "region_mask": tf.ones([2, 3], bool)}
  captions = {"words": e, "word_mask": mask, "noun_mask": mask, "tokens": tf.ones([2, 4], tf.int32)}
  matcher = matcher_harness.small(pfan.PFANMatcher, position_size=4)
  np.testing.assert_allclose(
    matcher.similarity(images, captions).numpy().ravel(),
    [1.343018, 1.312343, 1.344942, 1.258065],
    atol=1e-6,
  )


def golden_blocks():
  blocks = np.zeros((1, 2, 30), np.float32)
  blocks[0, 0, :15] = [17, 18, 33] + [256] * 12
  blocks[0, 0, 15:18] = [0.5, 0.3, 0.2]
  blocks[0, 1, :15] = 16 * np.arange(15)
  blocks[0, 1, 15:] = 1 / 15
  return blocks


def test_golden_regions_of_the_released_encoder():
  matcher = pfan.PFANMatcher(
    pfan.PFANConfig(vocabulary_size=5, feature_size=6, joint_size=5, word_size=2)
  )
  matcher.region_encoder.kernel.assign(sine((5, 206), 0).T)
  matcher.region_encoder.bias.assign(sine((5,), 1))
  matcher.position_attention.kernel.assign(sine((200, 6), 2).T)
  matcher.position_attention.bias.assign(sine((200,), 3))
  matcher.position_attention.embedding.assign(sine((257, 200), 4))
  r, d = np.ogrid[:2, :6]
  batch = {
    "features": tf.constant(np.sin(1 + 1.3 * r + 0.9 * d)[None], tf.float32),
    "region_mask": tf.ones([1, 2], bool),
    "position_blocks": tf.constant(golden_blocks()),
  }
  np.testing.assert_allclose(
    matcher.encode_images(batch)["regions"][0],
    [
      [-0.257078, 0.283303, 0.654757, 0.620310, 0.200397],
      [-0.312344, 0.009883, 0.417860, 0.651781, 0.550379],
    ],
    atol=2e-6,
  )


def test_blocks_of_a_small_box():
  # Covers block (1, 1) wholly and half of block (2, 1): ids 17 and 33, shares 2/3 and 1/3.
  box = tf.constant([[[1 / 16, 1 / 16, 2.5 / 16, 2 / 16]]])
  blocks = pfan.position_blocks(box).numpy()[0, 0]
  assert blocks[:3].tolist() == [17, 33, 256]
  np.testing.assert_allclose(blocks[15:18], [2 / 3, 1 / 3, 0], atol=1e-6)


def test_a_whole_picture_keeps_the_fifteen_lowest_blocks_in_equal_shares():
  blocks = pfan.position_blocks(tf.constant([[[0.0, 0.0, 1.0, 1.0]]])).numpy()[0, 0]
  assert blocks[:15].tolist() == list(range(15))
  np.testing.assert_allclose(blocks[15:], 1 / 15, atol=1e-6)


def test_shares_sum_to_one_and_an_empty_box_has_only_padding():
  blocks = pfan.position_blocks(BATCH["boxes"]).numpy()
  np.testing.assert_allclose(blocks[..., 15:].sum(-1), 1.0, atol=1e-5)
  empty = pfan.position_blocks(tf.zeros([1, 1, 4])).numpy()[0, 0]
  assert (empty[:15] == 256).all()
  assert not empty[15:].any()


def test_given_blocks_are_used_instead_of_boxes():
  matcher = matcher_harness.small(pfan.PFANMatcher, position_size=4)
  blocks = pfan.position_blocks(BATCH["boxes"])
  expected = matcher.encode_images(BATCH)["regions"].numpy()
  given = matcher.encode_images({**BATCH, "position_blocks": blocks})["regions"].numpy()
  np.testing.assert_allclose(given, expected, atol=1e-6)
