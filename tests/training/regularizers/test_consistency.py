"""Tests of gcap_tf/training/regularizers/consistency.py."""

import numpy as np
import pytest

from gcap_tf.losses import reconstruction
from tests.training.regularizers import steps


@pytest.mark.parametrize("words", ["all", "nouns"])
def test_attention_of_both_passes_is_compared(words):
  model = steps.make_model(localizer="linear")
  regularizer, step = steps.take(model, consistency_weight=0.5, localized_words=words)
  counted = step.batch["token_mask" if words == "all" else "noun_mask"]
  np.testing.assert_array_equal(step.counted["consistency"], counted)
  first = step.outputs["attention"][:, :, 0]
  second = step.reconstructed["attention"][:, :, 0]
  expected = reconstruction.consistency(second, first, counted)
  np.testing.assert_allclose(regularizer.loss(step), expected)
