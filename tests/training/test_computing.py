"""Tests of gcap_tf/training/computing.py."""

import pytest
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.training import computing


def test_nothing_is_set_up_where_nothing_is_asked_for(monkeypatch):
  monkeypatch.delenv("TF_CONFIG", raising=False)
  options = tf.config.optimizer.get_experimental_options()
  assert computing.start(computing.ComputeConfig(replicas=1)) is tf.distribute.get_strategy()
  assert tf.config.optimizer.get_experimental_options() == options


def test_numbers_that_mean_nothing_are_refused():
  with pytest.raises(errors.UserError, match="accumulate is 0; expected 1 or more"):
    configs.check(computing.ComputeConfig(accumulate=0))


def test_xla_on_a_cpu_must_be_known_when_tensorflow_is_loaded(monkeypatch):
  monkeypatch.setenv("TF_XLA_FLAGS", "--other")
  assert computing.missing_environment(computing.ComputeConfig()) == {}
  wanted = computing.missing_environment(computing.ComputeConfig(xla=True))
  assert wanted["TF_XLA_FLAGS"] == "--other --tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"
  monkeypatch.setenv("TF_XLA_FLAGS", wanted["TF_XLA_FLAGS"])
  assert computing.missing_environment(computing.ComputeConfig(xla=True)) == {}
