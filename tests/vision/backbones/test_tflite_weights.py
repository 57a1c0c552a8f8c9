"""Weights of TFLite files are read as the interpreter uses them."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.vision.backbones import efficientnet_lite, lite_weights, tflite_weights


def _tiny(seed):
  keras.utils.set_random_seed(seed)
  model = efficientnet_lite.EfficientNetLite(0.25, 0.5, name="tiny")
  for layer in model.layers:
    if layer.weights:
      layer.bias.assign(np.random.default_rng(seed).normal(0, 0.1, layer.bias.shape))
  return model


def _tflite(model, path, quantised):
  """Converts the last map of a backbone, as files of EfficientDet-Lite are made."""
  last = keras.Model(model.input, model.output[32])
  function = tf.function(last, input_signature=[tf.TensorSpec([1, 64, 64, 3])], autograph=False)
  converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
  if quantised:
    rng = np.random.default_rng(0)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: (
      [rng.uniform(0, 255, [1, 64, 64, 3]).astype(np.float32)] for _ in range(4)
    )
  path.write_bytes(converter.convert())
  return str(path)


@pytest.mark.parametrize("quantised", [False, True])
def test_a_backbone_gets_the_weights_of_a_file(tmp_path, quantised):
  first, second = _tiny(1), _tiny(2)
  lite_weights.assign_folded(second, _tflite(first, tmp_path / "tiny.tflite", quantised))
  for one, other in zip(first.get_weights(), second.get_weights(), strict=True):
    largest = np.abs(one).max()
    np.testing.assert_allclose(other, one, atol=largest / 200 if quantised else 1e-5 * largest)


def test_faults_are_one_line(tmp_path):
  path = _tflite(_tiny(1), tmp_path / "tiny.tflite", False)
  wider = efficientnet_lite.EfficientNetLite(0.5, 0.5, name="wider")
  with pytest.raises(errors.UserError, match="another backbone than wider"):
    lite_weights.assign_folded(wider, path)
  with pytest.raises(errors.UserError, match="convolutions; this backbone has 999"):
    tflite_weights.read(path, 999)
  with pytest.raises(errors.UserError, match="do not exist"):
    lite_weights.build("lite0", str(tmp_path / "nothing.tflite"))
  content = (tmp_path / "tiny.tflite").read_bytes()
  for damaged in (b"", b"words", content[:200], content[:2000], content[: len(content) // 2]):
    (tmp_path / "damaged.tflite").write_bytes(damaged)
    with pytest.raises(errors.UserError, match="not a whole TFLite model"):
      lite_weights.build("lite0", str(tmp_path / "damaged.tflite"))
