"""BFAN: the contract, golden numbers, focus and its guard."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.matchers import bfan
from tests import matcher_harness
from tests.layers import golden

BATCH = matcher_harness.example_batch()


@pytest.mark.parametrize("focus", ["equal", "prob"])
def test_the_contract(focus):
  matcher_harness.check_matcher(lambda: matcher_harness.small(bfan.BFANMatcher, focus=focus), BATCH)


@pytest.mark.parametrize(
  ("focus", "expected"),
  [
    ("equal", "1.762306 1.420656 1.746289 1.543495"),
    ("prob", "1.762306 1.420656 1.746289 1.530510"),
  ],
)
def test_golden_scores(focus, expected):
  v, e, mask = (tf.constant(x) for x in golden.inputs())
  images = {"regions": v, "region_mask": tf.ones([2, 3], bool)}
  captions = {"words": e, "word_mask": mask, "noun_mask": mask, "tokens": tf.ones([2, 4], tf.int32)}
  scores = matcher_harness.small(bfan.BFANMatcher, focus=focus).similarity(images, captions)
  np.testing.assert_allclose(scores.numpy().ravel(), golden.numbers(expected), atol=1e-6)


def loop_focus(x, focus):
  """The released form, key by key."""
  kept = []
  for x_i in x:
    weight = np.ones_like(x) if focus == "equal" else np.sqrt(x)
    kept.append(((x_i - x) * weight).sum() > 0)
  return np.where(kept, x, 0)


@pytest.mark.parametrize("focus", ["equal", "prob"])
def test_thresholds_equal_the_quadratic_form_at_any_scale(focus):
  x = np.random.default_rng(0).dirichlet(np.ones(7), size=20)  # [20, keys]
  energies = tf.constant(x.T[None, :, :, None] * 123.0)
  actual = bfan.refocus(energies, tf.ones([1, 7, 1, 1], bool), focus).numpy()[0, :, :, 0].T
  expected = np.stack([loop_focus(row, focus) for row in x])
  np.testing.assert_allclose(actual / 123.0, expected, atol=1e-12)


def test_prob_keeps_some_of_what_equal_keeps():
  energies = tf.random.stateless_gamma([1, 9, 50, 1], [1, 2], 0.5)
  mask = tf.ones([1, 9, 1, 1], bool)
  equal = bfan.refocus(energies, mask, "equal").numpy() > 0
  prob = bfan.refocus(energies, mask, "prob").numpy() > 0
  assert (prob <= equal).all()
  assert prob.sum() < equal.sum()


@pytest.mark.parametrize("focus", ["equal", "prob"])
def test_uniform_attention_stays_as_it_was(focus):
  for keys in (1, 4):
    energies = tf.fill([1, keys, 2, 1], 0.25)
    kept = bfan.refocus(energies, tf.ones([1, keys, 1, 1], bool), focus)
    np.testing.assert_array_equal(kept, energies)


def test_padding_keys_do_not_move_the_threshold():
  energies = tf.constant([0.5, 0.3, 0.2, 0.0])[None, :, None, None]
  mask = tf.constant([True, True, True, False])[None, :, None, None]
  # The mean of three keys is 1/3: only the first stays. Of four it would be 1/4.
  np.testing.assert_allclose(
    bfan.refocus(energies, mask, "equal")[0, :, 0, 0], [0.5, 0, 0, 0], atol=1e-7
  )
