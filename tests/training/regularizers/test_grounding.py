"""Tests of gcap_tf/training/regularizers/grounding.py."""

import numpy as np

from gcap_tf.losses import gvd
from tests.training.regularizers import steps


def test_class_and_attention_scores_are_compared_with_the_annotated_regions():
  model = steps.make_model("gvd", num_classes=3)
  regularizer, step = steps.take(model, grounding_weight=0.1)
  logits = np.repeat(step.memory["class_logits"], 2, 0)
  mask = np.repeat(step.batch["region_mask"], 2, 0)
  scores = step.outputs["scores"][:, :, 0]
  grounded = gvd.grounding_scores(logits, regularizer.classes(step.batch), scores)
  expected = gvd.attention_loss(grounded, step.counted["grounding"], mask)
  np.testing.assert_allclose(regularizer.loss(step), expected)
  assert float(expected) > 0
