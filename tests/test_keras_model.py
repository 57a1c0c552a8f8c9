"""Tests of gcap_tf/keras_model.py, with a line y = slope * x as the model."""

import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import config as configs
from gcap_tf import errors, keras_model


@dataclasses.dataclass(frozen=True)
class LineConfig:
  slope: configs.Weight = 2.0


@keras.saving.register_keras_serializable(package="gcap_tf_tests")
class Line(keras_model.ConfiguredModel):
  Config = LineConfig

  def __init__(self, config, **kwargs):
    super().__init__(config, **kwargs)
    start = keras.initializers.Constant(config.slope)
    self.slope = self.add_weight(shape=(), initializer=start, name="slope")
    self.unused = self.add_weight(shape=(), initializer="ones", name="unused")

  def call(self, batch, training=False):
    return self.slope * batch["x"]

  def fit_loss(self, batch, training):
    return tf.reduce_mean(tf.square(self(batch, training=training) - batch["y"]))


def batches(*pairs):
  x, y = np.array(pairs, np.float32).T
  return tf.data.Dataset.from_tensor_slices({"x": x[:, None], "y": y[:, None]})


def test_a_saved_model_comes_back_with_its_options_and_weights(tmp_path):
  model = Line(LineConfig(slope=0.5), name="mine")
  model.slope.assign(0.75)
  model.save(tmp_path / "m.keras")
  loaded = keras.models.load_model(tmp_path / "m.keras")
  assert (loaded.config, loaded.name) == (LineConfig(slope=0.5), "mine")
  assert float(loaded({"x": tf.constant(2.0)})) == 1.5


def test_a_configuration_out_of_range_is_refused_in_one_line():
  with pytest.raises(errors.UserError, match=r"Line\.slope is -1\.0; expected 0 or more"):
    Line.from_config({"name": "mine", "config": {"slope": -1.0}})


def test_fit_takes_the_step_of_the_optimizer_and_leaves_unused_weights():
  model = Line(LineConfig())
  model.compile(keras.optimizers.SGD(0.1))
  model.fit(batches((1, 0)), verbose=0)
  # d/dslope (slope - 0)^2 = 4 at slope 2; 2 - 0.1 * 4 = 1.6.
  np.testing.assert_allclose([model.slope.numpy(), model.unused.numpy()], [1.6, 1.0], rtol=1e-6)


def test_evaluate_reports_the_mean_loss_over_batches():
  model = Line(LineConfig())
  model.compile(keras.optimizers.SGD(0.1))
  # Errors of y = 2x: 1 - 2 and 5 - 2; squares 1 and 9, mean 5.
  assert model.evaluate(batches((1, 1), (1, 5)), verbose=0, return_dict=True)["loss"] == 5.0


def test_the_seed_counts_the_steps_of_the_optimizer():
  model = Line(LineConfig())
  assert model.step_seed().numpy().tolist() == [0, 0]
  model.compile(keras.optimizers.SGD(0.1))
  model.fit(batches((1, 1), (1, 1), (1, 1)), verbose=0)
  assert model.step_seed().numpy().tolist() == [0, 3]
