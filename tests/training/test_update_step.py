"""Tests of training/update_step.py on one device; test_replicas.py has several replicas."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import catalog
from gcap_tf.layers import batch_norm
from gcap_tf.training import contract, loss_options, optimizers, precision, update_step
from gcap_tf.training.methods import captioning
from tests import captioner_harness


class Line(contract.Trainer):
  """Fits y = w norm(x); also reports a figure."""

  best_metric = "none"
  reported = ("mean_x",)

  def __init__(self):
    self.line = keras.layers.Dense(1, kernel_initializer="ones")
    self.norm = batch_norm.BatchNorm(1)
    self.line.build((None, 1))
    self.model = keras.Sequential([self.line, self.norm])

  def losses(self, batch, seed):
    x = self.norm(batch["x"], axis=1, training=True)
    y = self.line(x)
    return {"error": tf.reduce_sum(tf.square(y - batch["y"])), "mean_x": tf.reduce_mean(x)}


BATCH = {"x": tf.constant([[1.0], [2.0], [4.0]]), "y": tf.constant([[1.0], [0.0], [2.0]])}


def updater(taught, accumulate=1, scale=None, **options):
  variables = [variable.value for variable in taught.model.trainable_variables]
  adam = optimizers.Adam(optimizers.OptimizerConfig(**options), variables)
  return update_step.UpdateStep(taught, adam, accumulate, scale), adam


def call(update, batch):
  values = update(batch, tf.constant([3, 4]), tf.constant(0.01), tf.constant(0.0))
  return {name: float(value) for name, value in values.items()}


def test_a_reported_figure_is_returned_and_not_minimised():
  update, _ = updater(Line())
  values = call(update, BATCH)
  assert values["loss"] == values["error"]
  assert values["mean_x"] == pytest.approx(0.0, abs=1e-6)


def test_a_step_that_is_not_finite_changes_nothing():
  taught = Line()
  update, adam = updater(taught)
  call(update, BATCH)
  before = taught.model.get_weights() + [v.numpy() for v in adam.variables]
  values = call(update, BATCH | {"y": tf.constant([[1.0], [np.nan], [2.0]])})
  assert values["finite"] == 0.0 and np.isnan(values["loss"])
  after = taught.model.get_weights() + [v.numpy() for v in adam.variables]
  for old, new in zip(before, after, strict=True):
    np.testing.assert_array_equal(new, old)
  assert call(update, BATCH)["finite"] == 1.0
  assert (taught.model.get_weights()[0] != before[0]).all()


def test_a_scaled_loss_gives_the_same_update_and_a_gradient_too_large_halves_the_scale():
  plain, scaled = Line(), Line()
  scale = precision.LossScale(first=1024.0)
  for taught, factor in ((plain, None), (scaled, scale)):
    call(updater(taught, scale=factor)[0], BATCH)
  for a, b in zip(plain.model.get_weights(), scaled.model.get_weights(), strict=True):
    np.testing.assert_allclose(a, b, rtol=1e-6)
  scale.scale.assign(1e38)
  assert call(updater(scaled, scale=scale)[0], BATCH)["finite"] == 0.0
  assert float(scale.scale) == pytest.approx(5e37)


def small_trainer():
  captioner_harness.fix_start()
  cls = catalog.CAPTIONERS.get("updown")
  sizes = {"embedding_size": 8, "hidden_size": 10, "attention_size": 6, "feature_size": 7}
  losses = loss_options.CaptioningLosses(box_supervision="nll")
  model = cls(cls.Config(vocabulary_size=11, dropout=0.0, **sizes))
  return captioning.CaptioningTrainer(model, losses)


@pytest.fixture
def op_by_op():
  """Compiling four parts for one use takes longer than running them."""
  tf.config.run_functions_eagerly(True)
  yield
  tf.config.run_functions_eagerly(False)


@pytest.mark.usefixtures("op_by_op")
def test_parts_with_unequal_words_make_the_update_of_the_whole_batch():
  batch = captioner_harness.make_batch(pictures=4)
  words = tf.reduce_sum(tf.cast(batch["token_mask"], tf.int32), 1).numpy()
  assert len({words[n : n + 2].sum() for n in (0, 2, 4, 6)}) > 1
  whole, parts = small_trainer(), small_trainer()
  results = [
    call(updater(taught, accumulate, epsilon=1e-2)[0], batch)
    for taught, accumulate in ((whole, 1), (parts, 4))
  ]
  for name, value in results[0].items():
    assert results[1][name] == pytest.approx(value, rel=1e-5)
  for a, b in zip(whole.model.get_weights(), parts.model.get_weights(), strict=True):
    np.testing.assert_allclose(b, a, atol=1e-5)
