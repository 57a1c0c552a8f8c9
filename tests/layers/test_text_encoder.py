"""The text encoder: golden numbers, padding and dropout."""

import numpy as np
import tensorflow as tf

from gcap_tf.layers import text_encoder
from tests.layers.golden import sine


def golden_encoder():
  encoder = text_encoder.TextEncoder(7, 3, 4)
  encoder.embedding.assign(sine((7, 3), 0))
  for offset, layer in ((1, encoder.forward_gru), (5, encoder.backward_gru)):
    layer.kernel.assign(sine((12, 3), offset).T)
    layer.recurrent_kernel.assign(sine((12, 4), offset + 1).T)
    layer.bias.assign(sine((12,), offset + 2))
    layer.recurrent_bias.assign(sine((12,), offset + 3))
  return encoder


TOKENS = tf.constant([[1, 5, 4, 2], [1, 6, 2, 0]])
MASK = TOKENS > 0


def test_golden_numbers_of_the_released_encoder():
  out = golden_encoder()(TOKENS, MASK).numpy()
  np.testing.assert_allclose(out[0, 1], [-0.593416, -0.684231, -0.366644, 0.212740], atol=1e-6)
  np.testing.assert_allclose(out[1, 0], [-0.260916, -0.688304, -0.649470, -0.190656], atol=1e-6)
  np.testing.assert_array_equal(out[1, 3], 0.0)


def test_more_padding_changes_no_word():
  encoder = golden_encoder()
  short = encoder(TOKENS, MASK).numpy()
  wide = encoder(tf.pad(TOKENS, [[0, 0], [0, 3]]), tf.pad(MASK, [[0, 0], [0, 3]])).numpy()
  np.testing.assert_allclose(wide[:, :4], short, atol=1e-7)
  assert not wide[:, 4:].any()


def test_one_direction_reads_only_the_past():
  encoder = text_encoder.TextEncoder(7, 3, 4, bidirectional=False)
  first = encoder(tf.constant([[1, 5, 4]]), tf.ones([1, 3], bool)).numpy()
  second = encoder(tf.constant([[1, 5, 6]]), tf.ones([1, 3], bool)).numpy()
  np.testing.assert_array_equal(first[:, :2], second[:, :2])
  assert np.abs(first[:, 2] - second[:, 2]).max() > 1e-6


def test_dropout_acts_only_with_a_seed_and_repeats_with_it():
  encoder = text_encoder.TextEncoder(7, 3, 4, dropout_rate=0.5)
  still = encoder(TOKENS, MASK).numpy()
  np.testing.assert_array_equal(still, encoder(TOKENS, MASK).numpy())
  one = encoder(TOKENS, MASK, tf.constant([1, 2])).numpy()
  np.testing.assert_array_equal(one, encoder(TOKENS, MASK, tf.constant([1, 2])).numpy())
  assert np.abs(one - still).max() > 1e-4


def test_a_frozen_padding_row_reads_as_zero():
  encoder = text_encoder.TextEncoder(7, 3, 4, frozen_padding=True)
  plain = text_encoder.TextEncoder(7, 3, 4)
  plain.set_weights(encoder.get_weights())
  plain.embedding.assign(tf.concat([tf.zeros([1, 3]), plain.embedding[1:]], 0))
  tokens, mask = tf.constant([[1, 0, 2]]), tf.ones([1, 3], bool)
  np.testing.assert_allclose(encoder(tokens, mask), plain(tokens, mask), atol=1e-7)
