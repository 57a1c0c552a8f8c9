"""Tests of gcap_tf/training/precision.py."""

import numpy as np
import tensorflow as tf

from gcap_tf.training import precision

DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


def test_a_product_that_ends_its_process_is_found_without_ending_ours():
  assert precision.product_fault(DIES) == "ends the process (SIGILL)"
  assert precision.product_fault("raise SystemExit(3)") == "fails"
  assert precision.product_fault("print(False)") == "fails"
  assert precision.product_fault("print(True)") is None


def test_the_scale_halves_at_a_bad_gradient_and_doubles_after_good_ones():
  scale = precision.LossScale(first=8.0, growth_steps=3)
  seen = []
  for finite in (True, True, False, True, True, True, True):
    factor, good = scale.next_values(tf.constant(finite))
    scale.scale.assign(factor)
    scale.good_steps.assign(good)
    seen.append(float(factor))
  assert seen == [8.0, 8.0, 4.0, 4.0, 4.0, 8.0, 8.0]


def test_the_scale_never_falls_below_one():
  scale = precision.LossScale(first=1.0)
  factor, _ = scale.next_values(tf.constant(False))
  np.testing.assert_equal(float(factor), 1.0)


def test_no_loss_is_scaled_unless_products_are_float16():
  assert not precision.needs_loss_scale()
