"""Tests of benchmarks/caption_limits.py."""

import numpy as np
import tensorflow as tf

from benchmarks import caption_limits
from gcap_tf.data.prepared import feature_layout

TRUTH = caption_limits.Truth(np.float32([[0, 0, 0.5, 0.5]]), np.int32([2]))
BOXES = np.float32([[0, 0, 0.5, 0.4], [0.6, 0.6, 0.9, 0.9]])
PROBS = np.float32([[0.7, 0.2, 0.1], [0.1, 0.9, 0.0]])


def test_a_region_that_shows_an_annotated_box_is_named_like_it():
  probs, shows = caption_limits.renamed(PROBS, BOXES, TRUTH)
  np.testing.assert_allclose(probs, [[0, 0, 1], PROBS[1]])
  assert shows.tolist() == [True, False]


def test_a_picture_without_annotation_stays_as_it_is():
  nothing = caption_limits.Truth(np.zeros((0, 4), np.float32), np.zeros(0, np.int32))
  probs, shows = caption_limits.renamed(PROBS, BOXES, nothing)
  assert probs is PROBS and not shows.any()


def test_regions_that_show_nothing_can_be_left_out_and_other_columns_stay():
  layout = feature_layout.FeatureLayout({"labels": (1, 4)}, ("a", "b", "c"))
  features = np.concatenate([np.float32([[5], [6]]), 4 * np.sqrt(PROBS)], 1)
  batch = {
    "image_id": tf.constant(["7"]),
    "example_mask": tf.constant([True]),
    "features": tf.constant(features[np.newaxis]),
    "boxes": tf.constant(BOXES[np.newaxis]),
    "region_mask": tf.constant([[True, True]]),
    "region_labels": tf.constant([[2, 0]]),
  }
  for others, mask in ((True, [True, True]), (False, [True, False])):
    seen = caption_limits.change(layout, {"7": TRUTH}, others, ("c", "a"))(batch, None)
    assert seen["region_mask"].numpy()[0].tolist() == mask
    assert seen["region_labels"].numpy()[0].tolist() == [1, 0]  # "c"; the other has no name.
    expected = np.float32([[5, 0, 0, 4], features[1]])
    np.testing.assert_allclose(seen["features"].numpy()[0], expected, atol=1e-5)
