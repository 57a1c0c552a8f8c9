"""Tests of gcap_tf/training/regularizers/distillation.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.losses import distillation
from gcap_tf.training import loss_options
from gcap_tf.training.methods import captioning
from tests import captioner_harness
from tests.training.regularizers import steps


def test_attention_of_nouns_is_compared_with_the_teachers():
  for area in (0.0, 0.5):
    regularizer, step = steps.take(steps.make_model(), distill_weight=0.1, distill_area=area)
    teacher, nouns = step.batch["teacher_attention"], step.batch["noun_mask"]
    np.testing.assert_array_equal(step.counted["distillation"], nouns)
    if area:
      teacher = distillation.prefer_large(teacher, step.batch["boxes"], area)
    expected = distillation.loss("kl", teacher, step.outputs["attention"][:, :, 0], nouns)
    np.testing.assert_allclose(regularizer.loss(step), expected)


def test_distillation_moves_attention_towards_the_teacher():
  model, batch = steps.make_model(attention_size=6), steps.make_batch()
  config = loss_options.CaptioningLosses(cross_entropy_weight=0.0, distill_weight=1.0)
  trainer = captioning.CaptioningTrainer(model, config)
  variables = model.trainable_variables

  @tf.function(autograph=False)
  def step():
    with tf.GradientTape() as tape:
      total = tf.add_n(list(trainer.losses(batch, steps.SEED).values()))
    for variable, gradient in zip(variables, tape.gradient(total, variables), strict=True):
      if gradient is not None:
        variable.assign_sub(2.0 * tf.convert_to_tensor(gradient))
    return total

  values = [float(step()) for _ in range(100)]
  assert values[-1] < 0.6 * values[0]


def test_distillation_without_a_teacher_is_refused():
  with pytest.raises(errors.UserError, match=r"distill_weight is above 0 .* name a teacher"):
    steps.take(steps.make_model(), captioner_harness.make_batch(), distill_weight=1.0)
