"""The backbone of a detector as one small file, `RUN/backbone.npz`.

A packed detector brings its backbone if no package holds its weights. Kernels are kept as whole
numbers with one scale for each output channel,

    w = scale q,    q = round(w / scale),    scale = max |w| / 127

which is exact for the kernels of a quantised file, such as EfficientDet-Lite's, and within half a
scale for others. Biases are kept in float32.
"""

import pathlib

import keras
import numpy as np

from gcap_tf import errors, files
from gcap_tf.runs import packed_weights

NAME = "backbone.npz"
_LARGEST = 127


def path_of(run: files.PathLike) -> pathlib.Path:
  """The file of a packed detector's backbone."""
  return pathlib.Path(run) / NAME


def save(path: files.PathLike, backbone: keras.Model) -> None:
  """Writes the weights of a backbone."""
  packed = {}
  for layer in backbone.layers:
    for variable in layer.weights:
      key = f"{layer.name}/{variable.name}"
      if len(variable.shape) > 1:
        packed[key], packed[f"{key}/scale"] = quantise(np.asarray(variable.value))
      else:
        packed[key] = np.asarray(variable.value)
  with files.atomic_path(path) as partial, open(partial, "wb") as file:
    np.savez_compressed(file, **packed)


def restore(path: files.PathLike, backbone: keras.Model) -> None:
  """Gives a backbone the weights of a file; a `UserError` if one does not fit."""
  found = packed_weights.read_arrays(path)
  for layer in backbone.layers:
    for variable in layer.weights:
      values = _values(path, found, f"{layer.name}/{variable.name}")
      if values.shape != tuple(variable.shape) or not np.isfinite(values).all():
        raise errors.UserError(
          f"{path} does not fit the backbone of its run folder: {layer.name}/{variable.name} is "
          f"{list(values.shape)} there, {list(variable.shape)} in the model, or is not finite"
        )
      variable.assign(values)


def quantise(kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """(q int8, scale float32 that broadcasts) of a kernel [h, w, in, out].

  A depthwise kernel [h, w, channels, 1] has one scale for each channel.
  """
  axes = (0, 1, 3) if kernel.ndim == 4 and kernel.shape[-1] == 1 else tuple(range(kernel.ndim - 1))
  scale = np.abs(kernel).max(axes, keepdims=True) / np.float32(_LARGEST)
  whole = np.round(np.divide(kernel, scale, out=np.zeros_like(kernel), where=scale > 0))
  return whole.astype(np.int8), scale.astype(np.float32)


def _values(path: files.PathLike, found: dict[str, np.ndarray], key: str) -> np.ndarray:
  if key not in found:
    raise errors.UserError(f"{path} does not fit the backbone of its run folder: it lacks {key}")
  values, scale = found[key], found.get(f"{key}/scale")
  if scale is None:
    return values.astype(np.float32)
  try:
    return values.astype(np.float32) * scale
  except ValueError:
    raise errors.UserError(f"{path} is damaged: the scales of {key} do not fit") from None
