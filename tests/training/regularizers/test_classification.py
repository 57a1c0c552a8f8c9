"""Tests of gcap_tf/training/regularizers/classification.py."""

import numpy as np

from gcap_tf.losses import gvd
from tests.training.regularizers import steps


def test_annotated_regions_have_the_class_of_their_word():
  model = steps.make_model("gvd", num_classes=3)
  regularizer, step = steps.take(model, classification_weight=0.1)
  logits = np.repeat(step.memory["class_logits"], 2, 0)
  classes = regularizer.classes(step.batch)
  expected = gvd.classification_loss(logits, classes, step.counted["classification"])
  np.testing.assert_allclose(regularizer.loss(step), expected)
  assert float(expected) > 0 and regularizer.extras == ()
