import keras
import numpy as np
import pytest
import tensorflow as tf

from export import weights
from gcap_tf import errors


@pytest.fixture
def model():
  model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3)])
  model.layers[-1].kernel.assign(np.full((2, 3), 0.1, np.float32))
  return model


@pytest.mark.parametrize("float16", [False, True])
def test_traced_model_reads_the_copies(model, float16):
  exported = weights.ExportedWeights(model, float16)

  @tf.function
  def call(x):
    with exported.scope():
      return model(x)

  x = tf.ones([1, 2])
  before = call(x).numpy()
  np.testing.assert_allclose(before, 0.2, rtol=1e-3)
  model.layers[-1].kernel.assign(np.zeros((2, 3), np.float32))
  np.testing.assert_array_equal(call(x), before, "the model's own weights must not matter")
  exported.stored[0].assign(tf.zeros_like(exported.stored[0]))
  np.testing.assert_array_equal(call(x), 0)


def test_half_precision_rounds_and_is_stored_as_such(model):
  exported = weights.ExportedWeights(model, float16=True)
  assert {v.dtype for v in exported.stored} == {tf.float16}
  assert exported.stored[0].numpy()[0, 0] == np.float16(0.1)


def test_weight_beyond_half_precision_is_refused(model):
  model.layers[-1].kernel.assign(np.full((2, 3), 1e6, np.float32))
  with pytest.raises(errors.UserError, match="too large for float16"):
    weights.ExportedWeights(model, float16=True)


def test_eager_calls_keep_the_models_own_weights(model):
  exported = weights.ExportedWeights(model)
  for stored in exported.stored:
    stored.assign(tf.zeros_like(stored))
  with exported.scope():
    np.testing.assert_allclose(model(tf.ones([1, 2])), 0.2, rtol=1e-6)
