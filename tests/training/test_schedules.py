"""Tests of gcap_tf/training/schedules.py."""

import pytest

from gcap_tf.training import schedules


def rate(step, **options):
  config = schedules.ScheduleConfig(learning_rate=1.0, **options)
  return schedules.learning_rate(config, step, steps=100, steps_per_epoch=10)


def test_step_decay_follows_whole_epochs():
  # Every 3 epochs of 10 steps the rate is multiplied by 0.8.
  rates = [rate(step, kind="step_decay", factor=0.8, every=3) for step in (0, 29, 30, 59, 60)]
  assert rates == pytest.approx([1.0, 1.0, 0.8, 0.8, 0.64])


def test_epochs_before_the_count_keep_the_rate():
  # GVD: 0.8 at the epochs 4, 7, 10 (counted from 0).
  rates = [rate(s, kind="step_decay", factor=0.8, every=3, after=1) for s in (0, 39, 40, 69, 70)]
  assert rates == pytest.approx([1.0, 1.0, 0.8, 0.8, 0.64])


def test_a_plateau_drops_the_rate_and_waits_again():
  scores = [1.0, 3.0, 2.0, 3.0, 1.0, 4.0, 0.0, 0.0, 0.0]
  # With a patience of 2: the third in a row without a better one is too many, twice.
  assert [schedules.drops(scores[:n], 2) for n in (4, 5, 8, 9)] == [0, 1, 1, 2]
  config = schedules.ScheduleConfig("plateau", 1.0, factor=0.1, every=2, least=0.05)
  rates = [schedules.learning_rate(config, 0, 9, 1, scores[:n]) for n in (4, 5, 9)]
  assert rates == pytest.approx([1.0, 0.1, 0.05])


def test_cosine_falls_from_one_through_a_half_to_zero():
  assert [rate(s, kind="cosine") for s in (0, 50, 100)] == pytest.approx([1.0, 0.5, 0.0])


def test_warm_up_rises_linearly_to_the_rate():
  assert [rate(s, warmup_steps=4) for s in range(5)] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0])
