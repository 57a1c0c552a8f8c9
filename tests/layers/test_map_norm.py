import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.layers import map_norm

_X = np.random.default_rng(0).normal(2, 3, (4, 5, 6, 3)).astype(np.float32)


def _layer(**kwargs):
  layer = map_norm.MapNorm(**kwargs)
  layer.build((None, None, None, 3))
  return layer


def test_training_normalises_by_the_batch_and_moves_the_running_statistics():
  layer = _layer()
  y = layer(_X, training=True).numpy()
  mean, variance = _X.mean((0, 1, 2)), _X.var((0, 1, 2))
  np.testing.assert_allclose(y, (_X - mean) / np.sqrt(variance + 1e-3), atol=1e-4)
  np.testing.assert_allclose(layer.moving_mean, 0.03 * mean, rtol=1e-4)
  np.testing.assert_allclose(layer.moving_variance, 1 + 0.03 * (variance - 1), rtol=0.02)


def test_outside_training_the_running_statistics_are_used():
  layer = _layer()
  layer.moving_mean.assign([1, 2, 3])
  layer.moving_variance.assign([4, 1, 9])
  expected = (_X - [1, 2, 3]) / np.sqrt(np.array([4, 1, 9]) + 1e-3)
  np.testing.assert_allclose(layer(_X), expected, atol=1e-4)


def test_vectors_are_normalised_like_maps():
  rows = _X.reshape(-1, 3)
  y = _layer()(rows, training=True)
  np.testing.assert_allclose(y, _layer()(_X, training=True).numpy().reshape(-1, 3), atol=1e-5)


def test_without_affine_nothing_is_learned():
  assert not _layer(affine=False).trainable_variables
  assert len(_layer().trainable_variables) == 2


def test_it_survives_saving(tmp_path):
  inputs = keras.Input((5, 6, 3))
  model = keras.Model(inputs, map_norm.MapNorm()(inputs))
  model(_X, training=True)
  model.save(tmp_path / "m.keras")
  np.testing.assert_allclose(keras.models.load_model(tmp_path / "m.keras")(_X), model(_X))


def test_two_replicas_normalise_by_both_halves():
  cpus = tf.config.list_logical_devices("CPU")
  if len(cpus) < 2:
    pytest.skip("this process has one logical CPU")
  strategy = tf.distribute.MirroredStrategy([device.name for device in cpus[:2]])
  with strategy.scope():
    layer = _layer()

  def part():
    number = tf.distribute.get_replica_context().replica_id_in_sync_group
    return layer(tf.reshape(_X, [2, 2, 5, 6, 3])[number], training=True)

  halves = strategy.run(tf.function(part))
  y = np.concatenate([half.numpy() for half in strategy.experimental_local_results(halves)])
  alone = _layer()
  np.testing.assert_allclose(y, alone(_X, training=True), atol=1e-4)
  np.testing.assert_allclose(layer.moving_mean.numpy(), alone.moving_mean.numpy(), rtol=1e-4)
