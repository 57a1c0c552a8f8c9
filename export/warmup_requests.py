"""Requests that a server runs before a version takes traffic.

TensorFlow Serving reads them from `assets.extra/tf_serving_warmup_requests`, a TFRecord
file of PredictionLog. The first call of a signature optimises its graph; the warm-up makes
sure that no user waits for it.
"""

import pathlib

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from export import photograph_module
from gcap_tf.data.prepared import shards

PATH = pathlib.Path("assets.extra") / "tf_serving_warmup_requests"
BATCHES = (1, 4)
REGIONS = 36

Arrays = dict[str, np.ndarray]


def example(specs: dict[str, tf.TensorSpec], pictures: int, regions: int, seed: int = 0) -> Arrays:
  """Returns a request with random regions or pictures; a seed gives the same request."""
  rng = np.random.default_rng(seed)
  inputs = {}
  for name, spec in specs.items():
    unknown_sizes = (pictures, regions)
    shape = [unknown_sizes[i] if size is None else size for i, size in enumerate(spec.shape)]
    if name == "boxes":
      low = rng.uniform(0.0, 0.6, (pictures, regions, 2))
      inputs[name] = np.concatenate([low, low + rng.uniform(0.1, 0.4, low.shape)], -1)
    elif name in ("num_regions", "num_frames"):
      inputs[name] = np.full(pictures, regions)
    elif name == "segment":
      inputs[name] = np.tile([0, regions], [pictures, 1])
    elif name == photograph_module.IMAGE_BYTES:
      inputs[name] = np.array([photograph(rng) for _ in range(pictures)], object)
    elif spec.dtype == tf.string:
      inputs[name] = np.full(shape, b"a man", object)
    else:
      inputs[name] = rng.uniform(0.0, 1.0, shape)
    if spec.dtype != tf.string:
      inputs[name] = inputs[name].astype(spec.dtype.as_numpy_dtype)
  return inputs


def photograph(rng: np.random.Generator) -> bytes:
  """A small JPEG of blurred noise, upright or not."""
  height, width = rng.integers(8, 25, 2)
  noise = tf.constant(rng.integers(0, 256, (height, width, 3)), tf.float32)
  picture = tf.image.resize(noise, (16 * height, 16 * width), "bilinear")
  return tf.io.encode_jpeg(tf.cast(picture, tf.uint8), quality=90).numpy()


def write(
  folder: pathlib.Path, model_name: str, requests: list[tuple[str, Arrays]]
) -> pathlib.Path:
  """Writes (signature, inputs) pairs into a SavedModel's folder; returns the file."""
  path = folder / PATH
  path.parent.mkdir(parents=True, exist_ok=True)
  with tf.io.TFRecordWriter(str(path)) as writer:
    for signature, inputs in requests:
      log = prediction_log_pb2.PredictionLog()
      request = log.predict_log.request
      request.model_spec.name = model_name
      request.model_spec.signature_name = signature
      for name, array in inputs.items():
        request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
      writer.write(log.SerializeToString())
  return path


def read(folder: pathlib.Path) -> list[tuple[str, Arrays]]:
  """Reads the (signature, inputs) pairs of a SavedModel's folder."""
  found = []
  for _, raw in shards.read_all(folder / PATH):
    request = prediction_log_pb2.PredictionLog.FromString(raw).predict_log.request
    arrays = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
    found.append((request.model_spec.signature_name, arrays))
  return found
