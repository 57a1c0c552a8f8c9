"""Tests of gcap_tf/losses/contrastive.py."""

import math

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.losses import contrastive

RNG = np.random.default_rng(0)


def h(ratio, nu):
  return 1.0 / (1.0 + nu * math.exp(-ratio))


@pytest.mark.parametrize("form", ["softplus", "clipped"])
@pytest.mark.parametrize("nu", [1.0, 5.0])
def test_both_terms_equal_the_paper(form, nu):
  right, wrong = RNG.normal(size=4) * 2, RNG.normal(size=(3, 4)) * 2
  expected_right = -np.mean([math.log(h(g, nu)) for g in right])
  expected_wrong = 0.0
  for k in range(3):
    expected_wrong -= np.mean([math.log(1 - h(g, nu)) for g in wrong[k]]) / 3
  found = contrastive.loss(
    tf.constant(right, tf.float32), tf.constant(wrong, tf.float32), nu, form=form
  )
  np.testing.assert_allclose(found["positive"], expected_right, rtol=1e-5)
  np.testing.assert_allclose(found["negative"], expected_wrong, rtol=1e-5)


@pytest.mark.parametrize("form", ["softplus", "clipped"])
def test_the_loss_is_two_ln_two_where_target_and_reference_agree(form):
  found = contrastive.loss(tf.zeros([4]), tf.zeros([20]), form=form)
  np.testing.assert_allclose(sum(found.values()), 2 * math.log(2), rtol=1e-6)


def test_either_term_can_be_left_out():
  ratios = tf.zeros([2])
  assert list(contrastive.loss(ratios, ratios, terms="positive")) == ["positive"]
  assert list(contrastive.loss(ratios, ratios, terms="negative")) == ["negative"]


@pytest.mark.parametrize("ratio", [-200.0, -40.0, 40.0, 200.0])
def test_far_ratios_keep_their_loss_and_gradient(ratio):
  value = tf.Variable(ratio)
  with tf.GradientTape(persistent=True) as tape:
    right = contrastive.positive_loss(value)
    wrong = contrastive.negative_loss(value)
  np.testing.assert_allclose(right, max(-ratio, 0.0), atol=1e-6)
  np.testing.assert_allclose(wrong, max(ratio, 0.0), atol=1e-6)
  np.testing.assert_allclose(tape.gradient(right, value), -1.0 if ratio < 0 else 0.0, atol=1e-6)
  np.testing.assert_allclose(tape.gradient(wrong, value), 1.0 if ratio > 0 else 0.0, atol=1e-6)


def test_the_clipped_form_loses_its_gradient_as_the_released_code_does():
  value = tf.Variable(30.0)
  with tf.GradientTape() as tape:
    loss = contrastive.negative_loss(value, form="clipped")
  np.testing.assert_allclose(loss, -math.log(1e-20), rtol=1e-6)
  assert float(tape.gradient(loss, value)) == 0.0
