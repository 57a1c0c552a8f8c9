"""The matcher contract and its helpers."""

import keras
import numpy as np
import tensorflow as tf

from gcap_tf.matchers import base, catalog
from tests import matcher_harness


def test_take_gathers_every_tensor_along_its_first_axis():
  encoded = {"regions": tf.reshape(tf.range(6), [3, 2]), "region_mask": tf.constant([1, 2, 3])}
  taken = base.take(encoded, tf.constant([2, 0, 2]))
  np.testing.assert_array_equal(taken["regions"], [[4, 5], [0, 1], [4, 5]])
  np.testing.assert_array_equal(taken["region_mask"], [3, 1, 3])


def test_every_caption_of_a_picture_major_batch_has_its_picture():
  np.testing.assert_array_equal(base.own_pictures(2, 6), [0, 0, 0, 1, 1, 1])
  np.testing.assert_array_equal(base.own_pictures(3, 3), [0, 1, 2])


def test_the_contract_answers_for_every_matcher_what_its_batches_need():
  made = {
    name: matcher_harness.small(catalog.MATCHERS.get(name)) for name in catalog.MATCHERS.names()
  }
  assert [name for name, matcher in made.items() if matcher.noun_tags] == ["pos_scan"]
  assert [name for name, matcher in made.items() if matcher.reads_positions] == ["pfan"]
  assert [name for name, matcher in made.items() if matcher.captions_as_ids] == ["bfan"]
  assert [name for name, matcher in made.items() if not matcher.attends] == ["vsepp"]
  assert {name: matcher.max_regions for name, matcher in made.items() if matcher.max_regions} == {
    "sgraf": 36
  }
  assert made["scan"].batch_options == {"position_blocks": False}
  assert made["pos_scan"].batch_options["noun_tags"] == ("NOUN", "PROPN")
  for matcher in made.values():
    assert (matcher.config.num_labels, matcher.config.global_size) == (0, 0)


def test_dropout_in_training_differs_from_step_to_step_and_repeats_from_the_same_step():
  batch = matcher_harness.example_batch()
  matcher = matcher_harness.small(catalog.MATCHERS.get("sgraf"), head="SGR")
  matcher.compile(keras.optimizers.SGD(0.0))
  first = matcher(batch, training=True).numpy()
  np.testing.assert_array_equal(matcher(batch, training=True), first)
  matcher.optimizer.iterations.assign(1)
  assert (matcher(batch, training=True).numpy() != first).any()
