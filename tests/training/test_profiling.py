"""Tests of gcap_tf/training/profiling.py."""

import tensorflow as tf

from gcap_tf.training import profiling


def traces(folder):
  return list(folder.glob("plugins/profile/*/*.xplane.pb"))


def test_a_short_run_is_traced_to_its_end(tmp_path, capsys):
  with profiling.trace(True, tmp_path) as taken:
    for number in range(profiling.FIRST + 2):
      with taken.step(number):
        tf.zeros([2]) + 1.0
    assert not traces(tmp_path)
  assert len(traces(tmp_path)) == 1
  assert "tensorboard --logdir" in capsys.readouterr().out


def test_nothing_is_traced_unless_asked_for(tmp_path):
  with profiling.trace(False, tmp_path) as taken:
    for number in range(profiling.FIRST + profiling.COUNT + 1):
      with taken.step(number):
        pass
  assert not traces(tmp_path)
