"""Tests of gcap_tf/layers/naming.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import naming


def test_an_attended_region_adds_its_words_row_by_gate_and_attention():
  rng = np.random.default_rng(1)
  layer = naming.Naming(3, (0, 4, 2), 2)
  kernel = rng.normal(size=[3, 6]).astype(np.float32)
  batch = {"region_labels": tf.constant([[1, 2, 0]])}
  names = layer.names(batch, tf.constant(kernel)).numpy()
  np.testing.assert_allclose(names[0], [kernel[:, 4], kernel[:, 2], np.zeros(3)])

  attention = rng.random([2, 1, 3]).astype(np.float32)  # Two captions of one picture.
  hidden = rng.normal(size=[2, 1, 3]).astype(np.float32)
  found = layer(tf.constant(names), tf.constant(attention), tf.constant(hidden)).numpy()
  for caption in range(2):
    u, u_0 = (x.numpy() for x in (layer.gate.kernel, layer.gate.bias))
    gate = 10.0 / (1.0 + np.exp(-(hidden[caption, 0] @ u + u_0)))
    expected = gate * sum(attention[caption, 0, i] * names[0, i] for i in range(3))
    np.testing.assert_allclose(found[caption, 0], expected, rtol=1e-5)


def test_every_label_needs_a_word_or_0():
  with pytest.raises(errors.UserError, match="words of 3 region labels"):
    naming.Naming(4, (0, 1), 3)


def test_a_distribution_of_labels_names_the_mean_of_their_words():
  rng = np.random.default_rng(2)
  layer = naming.Naming(3, (4, 0), 0, (1, 3))
  kernel = rng.normal(size=[3, 6]).astype(np.float32)
  p = np.float32([[[0.25, 0.75], [1.0, 0.0], [0.0, 0.0]]])
  features = np.concatenate([rng.normal(size=[1, 3, 1]), 4 * np.sqrt(p)], -1).astype(np.float32)
  names = layer.names({"features": tf.constant(features)}, tf.constant(kernel)).numpy()
  expected = [0.25 * kernel[:, 4], kernel[:, 4], np.zeros(3)]
  np.testing.assert_allclose(names[0], expected, rtol=1e-5)


def test_every_column_of_labels_needs_a_word_or_0():
  with pytest.raises(errors.UserError, match="words of 3 columns of labels"):
    naming.Naming(4, (0, 1), 3, (5, 8))
