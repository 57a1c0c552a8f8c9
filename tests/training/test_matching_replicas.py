"""Two replicas learn what one device learns: negatives are sought among all captions."""
# bazel: size = "medium"  # Splits the CPU into logical devices: alone in its process.

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.matchers import scan
from gcap_tf.training import matching
from tests import matcher_harness

BATCH_SIZE = 6
SEED = [5, 6]


@pytest.fixture(scope="module")
def strategy():
  try:
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
  except RuntimeError:
    pytest.skip("TensorFlow has started with one logical CPU: run this file by itself")
  return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def gradients(trainer, batch):
  variables = [v.value for v in trainer.model.trainable_variables]
  with tf.GradientTape() as tape:
    loss = trainer.losses(batch, tf.constant(SEED))["ranking"]
  found = tape.gradient(loss, variables, unconnected_gradients="zero")
  return loss, [tf.convert_to_tensor(gradient) for gradient in found]


@pytest.mark.parametrize("negatives", ["hardest", "sum"])
def test_losses_and_gradients_add_up_to_those_of_one_device(strategy, negatives):
  batch = matcher_harness.example_batch(images=BATCH_SIZE)
  config = matching.MatchingConfig(negatives=negatives)
  alone = matching.MatchingTrainer(matcher_harness.small(scan.SCANMatcher), config)
  expected_loss, expected = gradients(alone, batch)
  with strategy.scope():
    model = matcher_harness.small(scan.SCANMatcher)
    model.set_weights(alone.model.get_weights())
    trainer = matching.MatchingTrainer(model, config)

  halves = [
    {name: tensor[rows] for name, tensor in batch.items()}
    for rows in (slice(0, BATCH_SIZE // 2), slice(BATCH_SIZE // 2, None))
  ]

  @tf.function
  def step():
    shares = strategy.experimental_distribute_values_from_function(
      lambda context: halves[context.replica_id_in_sync_group]
    )
    loss, found = strategy.run(lambda part: gradients(trainer, part), args=(shares,))
    add = lambda value: strategy.reduce("SUM", value, axis=None)  # noqa: E731
    return add(loss), [add(gradient) for gradient in found]

  loss, found = step()
  np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)
  for actual, wanted in zip(found, expected, strict=True):
    np.testing.assert_allclose(actual, wanted, atol=1e-5)
