"""Tests of gcap_tf/training/regularizers/boxes.py."""

import numpy as np
import pytest

from gcap_tf.losses import boxes
from tests.training.regularizers import steps


@pytest.mark.parametrize("kind", ["nll", "kl", "extend_nll"])
def test_attention_is_compared_with_the_annotated_regions(kind):
  regularizer, step = steps.take(steps.make_model(), box_supervision=kind)
  targets = step.batch["target_regions"]
  np.testing.assert_array_equal(step.counted["boxes"], boxes.positives(kind, targets))
  mask = np.repeat(step.batch["region_mask"], 2, 0)
  expected = boxes.loss(kind, targets, step.outputs["attention"][:, :, 0], mask)
  np.testing.assert_allclose(regularizer.loss(step), expected)
  assert regularizer.weight == 0.1
