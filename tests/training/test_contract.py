"""Tests of gcap_tf/training/contract.py."""

from gcap_tf.training import contract


class Silent(contract.Trainer):
  def losses(self, batch, seed):
    return {}


def test_a_trainer_need_not_validate_or_draw():
  silent = Silent()
  silent.begin_epoch(3)
  assert silent.evaluate() == {} and silent.pictures() == {}
