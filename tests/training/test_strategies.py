"""Tests of gcap_tf/training/strategies.py; several replicas are in test_replicas.py."""

import json

import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.training import strategies

CLUSTER = {"worker": ["localhost:1", "localhost:2"]}


def tf_config(monkeypatch, cluster, kind, index):
  content = {"cluster": cluster, "task": {"type": kind, "index": index}}
  monkeypatch.setenv("TF_CONFIG", json.dumps(content))


def test_one_device_is_the_default_strategy_and_costs_nothing(monkeypatch):
  monkeypatch.delenv("TF_CONFIG", raising=False)
  assert strategies.make(replicas=1) is tf.distribute.get_strategy()
  assert strategies.worker(strategies.make(replicas=1)) == strategies.Worker(0, 1)


def test_a_chief_comes_before_the_workers(monkeypatch):
  tf_config(monkeypatch, CLUSTER, "worker", 1)
  assert strategies.worker_of_environment() == strategies.Worker(1, 2)
  tf_config(monkeypatch, CLUSTER | {"chief": ["localhost:3"]}, "worker", 1)
  assert strategies.worker_of_environment() == strategies.Worker(2, 3)
  tf_config(monkeypatch, CLUSTER | {"chief": ["localhost:3"]}, "chief", 0)
  assert strategies.worker_of_environment().is_chief


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"cluster": {}, "task": {"type": "worker"}}'])
def test_a_broken_tf_config_is_one_line_that_shows_how_to_write_it(monkeypatch, text):
  monkeypatch.setenv("TF_CONFIG", text)
  with pytest.raises(errors.UserError, match=r"TF_CONFIG cannot be read .*HOST:PORT"):
    strategies.make()


def test_a_task_outside_the_cluster_is_refused(monkeypatch):
  tf_config(monkeypatch, CLUSTER, "worker", 2)
  with pytest.raises(errors.UserError, match="task worker 2 is none of its 2 workers"):
    strategies.make()


def test_replicas_and_workers_are_not_mixed(monkeypatch):
  tf_config(monkeypatch, CLUSTER, "worker", 0)
  with pytest.raises(errors.UserError, match="leave --replicas out"):
    strategies.make(replicas=7)


def test_replicas_chosen_too_late_are_refused(monkeypatch):
  monkeypatch.delenv("TF_CONFIG", raising=False)
  tf.zeros([1])  # TensorFlow has started.
  with pytest.raises(errors.UserError, match="before anything else runs"):
    strategies.make(replicas=7)
