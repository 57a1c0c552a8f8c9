"""Regions into the joint space."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import region_encoder

FEATURES = tf.random.stateless_normal([2, 3, 5], seed=[0, 1])
MASK = tf.constant([[True, True, True], [True, False, False]])


def test_real_regions_are_unit_vectors_and_padding_is_zero():
  out = region_encoder.RegionEncoder(5, 4)(FEATURES, MASK).numpy()
  np.testing.assert_allclose(np.linalg.norm(out, axis=-1), MASK.numpy().astype(float), atol=1e-6)


def test_the_layer_is_an_affine_map():
  layer = region_encoder.RegionEncoder(5, 4, normalise=False)
  layer.bias.assign([1.0, 2.0, 3.0, 4.0])
  expected = FEATURES.numpy()[0] @ layer.kernel.numpy() + [1, 2, 3, 4]
  np.testing.assert_allclose(layer(FEATURES, MASK)[0], expected, atol=1e-6)


def test_weight_norm_starts_as_its_own_matrix_and_scales_with_the_gain():
  layer = region_encoder.RegionEncoder(5, 4, kind="weight_norm", normalise=False)
  np.testing.assert_allclose(layer.matrix(), layer.kernel.numpy(), atol=1e-6)
  layer.gain.assign(3.0)
  np.testing.assert_allclose(np.linalg.norm(layer.matrix().numpy()), 3.0, rtol=1e-6)


def test_features_of_another_size_are_refused_in_one_line():
  with pytest.raises(errors.UserError, match=r"^region features have 6 numbers but") as raised:
    region_encoder.check_feature_size(tf.zeros([2, 3, 6]), 5)
  assert "\n" not in str(raised.value)
