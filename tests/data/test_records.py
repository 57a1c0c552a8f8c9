"""Tests of gcap_tf/data/records.py."""

import numpy as np

from gcap_tf.data import records


def test_regions_are_counted_by_what_they_carry():
  boxes, features = np.zeros((3, 4), np.float32), np.zeros((2, 5), np.float32)
  assert records.Regions(boxes_px=boxes).count == 3
  assert records.Regions(features=features).count == 2
  assert records.Regions(labels=("dog",)).count == 1
  assert records.Regions().count == 0
