"""Tests of gcap_tf/training/regularizers/base.py."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import loss_options
from gcap_tf.training.regularizers import base
from tests.training.regularizers import steps


class Toy(base.Regularizer):
  """Not registered: it must not join other tests."""

  name = "toy"
  batch_keys = ("toy_input",)

  @dataclasses.dataclass(frozen=True)
  class Options:
    power: float = 1.0

  def counted(self, batch):
    return batch["noun_mask"]

  def loss(self, step):
    return tf.reduce_mean(step.attention**self.options.power)


def make(**losses):
  return Toy(loss_options.CaptioningLosses(**losses), steps.make_model())


def test_weight_and_options_come_from_the_free_groups():
  toy = make(regularizers={"toy": 0.3}, regularizer_options={"toy": {"power": 2.0}})
  assert (toy.weight, toy.options.power) == (0.3, 2.0)
  assert (make().weight, make().options.power) == (0.0, 1.0)
  with pytest.raises(errors.UserError, match='unknown option "powr"'):
    make(regularizer_options={"toy": {"powr": 2.0}})


def test_a_batch_that_lacks_a_tensor_is_refused():
  with pytest.raises(errors.UserError, match=r"losses\.regularizers\.toy .* has no toy_input"):
    make().check_batch(steps.make_batch())


def test_pictures_are_repeated_for_their_captions():
  _, step = steps.take(steps.make_model(), distill_weight=1.0)
  mask = step.batch["region_mask"].numpy()
  np.testing.assert_array_equal(step.region_mask, np.repeat(mask, 2, 0))


def test_the_second_pass_runs_once():
  model = steps.make_model(localizer="linear")
  _, step = steps.take(model, reconstruction_weight=1.0)
  assert step.reconstructed is step.reconstructed


def test_verbs_count_as_content_words_if_the_data_marks_them():
  nouns, verbs = tf.constant([[True, False]]), tf.constant([[False, True]])
  assert base.content_words({"noun_mask": nouns}).numpy().tolist() == [[True, False]]
  both = base.content_words({"noun_mask": nouns, "verb_mask": verbs})
  assert both.numpy().tolist() == [[True, True]]


def test_supervision_of_a_video_leaves_out_frames_without_the_words_box():
  _, step = steps.take(steps.make_model(), attention_weight=1.0)
  assert step.supervised_regions is step.region_mask
  targets = step.batch["target_regions"]
  elsewhere = tf.concat([targets[..., :-1], -tf.ones_like(targets[..., -1:])], -1)
  batch = steps.make_batch() | {"target_regions": elsewhere}
  _, step = steps.take(steps.make_model("gvd", num_frames=10), batch, attention_weight=1.0)
  found = step.supervised_regions
  assert found.shape == targets.shape
  assert not found[..., -1].numpy().any()
