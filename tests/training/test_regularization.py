"""Tests of gcap_tf/training/regularization.py."""

import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import loss_options, regularization
from gcap_tf.training.methods import captioning
from gcap_tf.training.regularizers import base
from tests.training.regularizers import steps


@pytest.fixture
def toy():
  """A regulariser as a user adds it: one class, one register line."""

  @base.register("toy")
  class Toy(base.Regularizer):
    def counted(self, batch):
      return batch["noun_mask"]

    def loss(self, step):
      return tf.reduce_mean(step.attention)

  yield Toy
  del base.REGULARIZERS._entries["toy"]


def active(**losses):
  config = loss_options.CaptioningLosses(**losses)
  return regularization.active(config, steps.make_model(localizer="mlp"), steps.WORDS)


def test_regularisers_of_weight_above_0_are_active_in_the_order_of_their_options():
  on = {"consistency_weight": 0.2, "box_supervision": "kl", "distill_weight": 0.1}
  assert [r.name for r in active(**on)] == ["distillation", "boxes", "consistency"]
  assert [r.weight for r in active(**on)] == [0.1, 0.1, 0.2]
  assert active() == ()


def test_a_toy_joins_the_losses_by_its_name_alone(toy):
  model = steps.make_model()
  config = loss_options.CaptioningLosses(regularizers={"toy": 0.5})
  losses = captioning.CaptioningTrainer(model, config).losses(steps.make_batch(), steps.SEED)
  # Rows of attention sum to 1 over five regions.
  assert float(losses["toy"]) == pytest.approx(0.5 / 5, rel=1e-5)


def test_a_wrong_name_and_a_weight_in_the_wrong_place_are_refused():
  with pytest.raises(errors.UserError, match='unknown regulariser "toi"'):
    active(regularizers={"toi": 0.1})
  with pytest.raises(errors.UserError, match=r"set losses\.distill_weight instead"):
    active(regularizers={"distillation": 0.1})


def test_losses_that_need_a_localiser_are_turned_off():
  config = loss_options.CaptioningLosses(
    reconstruction_weight=0.5, consistency_weight=0.1, distill_weight=0.2
  )
  assert regularization.without_localizer(config) == loss_options.CaptioningLosses(
    distill_weight=0.2
  )
