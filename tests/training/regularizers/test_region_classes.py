"""Tests of gcap_tf/training/regularizers/region_classes.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.losses import gvd
from gcap_tf.training.regularizers import region_classes
from tests.training.regularizers import steps


def test_words_find_their_class_themselves_or_by_their_lemma():
  assert region_classes.word_classes(steps.WORDS) == (0, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0)


def test_annotated_words_that_name_no_label_do_not_count():
  model = steps.make_model("gvd", num_classes=3)
  regularizer, step = steps.take(model, classification_weight=0.1)
  tokens = step.batch["tokens"].numpy()
  classes = np.array(region_classes.word_classes(steps.WORDS))[tokens]
  np.testing.assert_array_equal(regularizer.classes(step.batch), classes)
  pairs = gvd.pairs(step.batch["target_regions"]).numpy() & (classes > 0)[..., None]
  np.testing.assert_array_equal(step.counted["classification"], pairs)
  assert pairs.any()


def test_a_captioner_with_too_few_classes_is_refused():
  with pytest.raises(errors.UserError, match="set num_classes to 2"):
    steps.take(steps.make_model("gvd", num_classes=1), grounding_weight=0.1)
