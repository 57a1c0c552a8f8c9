"""Tests of gcap_tf/training/regularizers/attention.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.losses import gvd
from tests.training.regularizers import steps


def test_scores_are_compared_with_the_annotated_regions():
  regularizer, step = steps.take(steps.make_model("gvd"), attention_weight=0.1)
  pairs = gvd.pairs(step.batch["target_regions"])
  np.testing.assert_array_equal(step.counted["attention"], pairs)
  mask = np.repeat(step.batch["region_mask"], 2, 0)
  expected = gvd.attention_loss(step.outputs["scores"][:, :, 0], pairs, mask)
  np.testing.assert_allclose(regularizer.loss(step), expected)


def test_a_captioner_that_does_not_give_its_scores_is_refused():
  with pytest.raises(
    errors.UserError, match="attention_weight is not for AdaptiveCaptioner; train cyclical"
  ):
    steps.take(steps.make_model("adaptive"), attention_weight=0.1)
