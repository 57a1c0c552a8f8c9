import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import region_input
from tests import captioner_harness

BATCH = captioner_harness.make_batch()


def test_features_labels_and_boxes_are_joined_in_this_order():
  layer = region_input.RegionInput(7, num_labels=4, label_size=3, use_box=True)
  x = layer(BATCH).numpy()
  assert x.shape == (3, 5, 15) and layer.size == 15
  label = int(BATCH["region_labels"][1, 2])
  x1, y1, x2, y2 = BATCH["boxes"].numpy()[1, 2]
  np.testing.assert_allclose(x[1, 2, :7], BATCH["features"][1, 2])
  np.testing.assert_allclose(x[1, 2, 7:10], layer.labels.embeddings[label])
  np.testing.assert_allclose(x[1, 2, 10:], [x1, y1, x2, y2, (x2 - x1) * (y2 - y1)], rtol=1e-5)


def test_padding_is_zero_whatever_it_held():
  layer = region_input.RegionInput(7, num_labels=4, label_size=3)
  padded = captioner_harness.pad_regions(BATCH)
  assert (layer(padded).numpy()[:, 5:] == 0).all()


def test_labels_alone_suffice_and_nothing_does_not():
  layer = region_input.RegionInput(0, num_labels=4, label_size=3)
  assert layer(BATCH).shape == (3, 5, 3)
  with pytest.raises(errors.UserError, match="neither features nor labels"):
    region_input.RegionInput(0)


def test_normalised_features_have_unit_length():
  x = region_input.RegionInput(7, normalize=True)(BATCH)
  np.testing.assert_allclose(tf.norm(x[1], axis=-1), 1.0, rtol=1e-5)


def test_overall_is_the_global_feature_or_the_mean_of_real_regions():
  layer = region_input.RegionInput(7)
  regions = layer(BATCH)
  np.testing.assert_array_equal(layer.overall(BATCH, regions, 7), BATCH["global_feature"])
  mean = BATCH["features"].numpy()[0, :3].mean(0)
  np.testing.assert_allclose(layer.overall(BATCH, regions, 0)[0], mean, rtol=1e-4, atol=1e-6)
