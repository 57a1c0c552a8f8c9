"""Tests of gcap_tf/training/regularizers/reconstruction.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from tests.training.regularizers import steps


@pytest.mark.parametrize("words", ["all", "nouns"])
def test_the_reconstructed_caption_is_compared_with_the_caption(words):
  model = steps.make_model(localizer="linear")
  regularizer, step = steps.take(model, reconstruction_weight=0.5, reconstruction_words=words)
  tokens, counted = step.batch["tokens"], step.counted["reconstruction"]
  kept = step.batch["token_mask" if words == "all" else "noun_mask"]
  np.testing.assert_array_equal(counted, kept)
  predicted = tf.argmax(step.outputs["logits"], -1, output_type=tf.int32)
  again = model.reconstruct(step.memory, tokens, predicted, steps.SEED)
  expected = model.word_loss(again, tokens, counted)
  np.testing.assert_allclose(regularizer.loss(step), expected, rtol=1e-5)


def test_a_localiser_of_hidden_states_needs_the_query_of_the_first_pass():
  regularizer, step = steps.take(steps.make_model(localizer="hidden"), reconstruction_weight=0.5)
  assert regularizer.extras == ("query",) and np.isfinite(regularizer.loss(step))


def test_a_captioner_without_a_localiser_is_refused():
  with pytest.raises(errors.UserError, match="localizer"):
    steps.take(steps.make_model(), reconstruction_weight=0.5)
