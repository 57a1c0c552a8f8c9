"""Tests of gcap_tf/training/loss_options.py."""

from gcap_tf.training import loss_options


def test_sampling_grows_with_the_epochs():
  config = loss_options.ScheduledSampling(start=0)
  assert [config.chance(epoch) for epoch in (0, 4, 5, 9, 25, 99)] == [
    *(0.0, 0.0, 0.05, 0.05, 0.25, 0.25)
  ]
  assert loss_options.ScheduledSampling().chance(50) == 0.0
