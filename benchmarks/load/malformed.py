"""Malformed requests: with one known fault and its expected code, or with random damage.

A known fault must get exactly its code, over gRPC and REST. A random request has several
faults, flipped or missing bytes, or is noise; it must get an answer or a refusal, but never
an internal error, a broken connection or no answer.
"""

import functools
import http.client
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow_serving.apis import predict_pb2

from benchmarks.load import bursts, drawn_model

FEATURES = 16
REGIONS = 4
REFUSALS = {"INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED"}
REST_REFUSALS = {400, 404, 412, 429}
REST_PATH = "/v1/models/captioner:predict"

Request = predict_pb2.PredictRequest
Fault = Callable[[Request, random.Random], None]


def good_request(seed: int = 0) -> Request:
  """Returns a valid request for the tiny captioner."""
  return Request.FromString(_good(seed))


@functools.cache
def _good(seed: int) -> bytes:
  return bursts.request(drawn_model.specs(FEATURES), "captioner", "greedy", REGIONS, seed)


def known(rng: random.Random) -> tuple[str, bytes, str]:
  """Returns the name of a fault, a request with this fault only, and its expected code."""
  name = rng.choice(sorted(_FAULTS))
  fault, code = _FAULTS[name]
  request = good_request(rng.randrange(100))
  fault(request, rng)
  return name, request.SerializeToString(), code


def wild(rng: random.Random) -> bytes:
  """Returns a request with one to three faults and perhaps damaged bytes, or noise."""
  if rng.random() < 0.15:
    return rng.randbytes(rng.randrange(200))
  request = good_request(rng.randrange(100))
  for _ in range(rng.randint(1, 3)):
    rng.choice(_WILD)(request, rng)
  return damaged(request.SerializeToString(), rng)


def damaged(raw: bytes, rng: random.Random) -> bytes:
  """Sometimes changes some bytes, sometimes cuts off the end."""
  changed = bytearray(raw)
  if changed and rng.random() < 0.2:
    for _ in range(rng.randint(1, 8)):
      changed[rng.randrange(len(changed))] = rng.randrange(256)
  if changed and rng.random() < 0.1:
    del changed[rng.randrange(len(changed)) :]
  return bytes(changed)


def rest_body() -> dict[str, Any]:
  """Returns the body of a valid REST request."""
  return json.loads(_good_body())


@functools.cache
def _good_body() -> str:
  arrays = {name: tf.make_ndarray(tensor) for name, tensor in good_request().inputs.items()}
  row = {name: array[0].tolist() for name, array in arrays.items()}
  return json.dumps({"signature_name": "greedy", "instances": [row]})


def rest_known(rng: random.Random) -> tuple[str, str, bytes, int]:
  """Returns the name of a fault, its path and body, and the expected HTTP status."""
  name = rng.choice(sorted(_REST_FAULTS))
  fault, code = _REST_FAULTS[name]
  body = rest_body()
  path, content = fault(body)
  return name, path, content if isinstance(content, bytes) else json.dumps(content).encode(), code


def rest_wild(rng: random.Random) -> bytes:
  """Returns damaged JSON or noise."""
  if rng.random() < 0.2:
    return rng.randbytes(rng.randrange(300))
  raw = bytearray(_good_body().encode())
  for _ in range(rng.randint(1, 12)):
    raw[rng.randrange(len(raw))] = rng.choice(b'[]{}",:0e-.n\\\x00\xff ')
  if rng.random() < 0.3:
    del raw[rng.randrange(len(raw)) :]
  return bytes(raw)


def post(connection: http.client.HTTPConnection, path: str, body: bytes) -> int:
  """Sends a body and returns the status of the answer, which must be JSON."""
  connection.request("POST", path, body)
  answer = connection.getresponse()
  json.loads(answer.read())
  return answer.status


def _set_shape(tensor: tensor_pb2.TensorProto, axis: int, size: int) -> None:
  if axis < len(tensor.tensor_shape.dim):  # an earlier fault may have removed the shape
    tensor.tensor_shape.dim[axis].size = size


def _put(request: Request, name: str, array: np.ndarray) -> None:
  request.inputs[name].CopyFrom(tf.make_tensor_proto(array))


def _not_finite(request: Request, rng: random.Random) -> None:
  values = np.zeros((1, REGIONS, FEATURES), np.float32)
  values.flat[rng.randrange(values.size)] = rng.choice([np.nan, np.inf, -np.inf])
  _put(request, "features", values)


def _drop(request: Request, rng: random.Random) -> None:
  if request.inputs:
    del request.inputs[rng.choice(sorted(request.inputs))]


def _huge_repeated(request: Request, rng: random.Random) -> None:
  """Describes gigabytes in a few bytes: one value that repeats to fill the shape."""
  tensor = tensor_pb2.TensorProto(dtype=1, float_val=[1.0])
  for size in (1 << 15, 1 << 15, FEATURES):
    tensor.tensor_shape.dim.add(size=size)
  request.inputs["features"].CopyFrom(tensor)


def _set_spec(**fields: Any) -> Fault:
  def fault(request: Request, rng: random.Random) -> None:
    for name, values in fields.items():
      if name == "version":
        request.model_spec.version.value = rng.choice(values)
      else:
        setattr(request.model_spec, name, rng.choice(values))

  return fault


# Name -> the fault, and its code in TensorFlow Serving.
_FAULTS: dict[str, tuple[Fault, str]] = {
  "unknown model": (_set_spec(name=["other", "../captioner", "x" * 999]), "NOT_FOUND"),
  "no model name": (_set_spec(name=[""]), "INVALID_ARGUMENT"),
  "unknown version": (_set_spec(version=[99, 2**62]), "NOT_FOUND"),
  "unknown label": (_set_spec(version_label=["stable", "x" * 99]), "INVALID_ARGUMENT"),
  "unknown signature": (
    _set_spec(signature_name=["nonsense", "__saved_model_init_op", "x" * 999]),
    "FAILED_PRECONDITION",
  ),
  "wrong dtype": (
    lambda request, rng: setattr(
      request.inputs["features"], "dtype", rng.choice([0, 2, 3, 7, 19, 999])
    ),
    "INVALID_ARGUMENT",
  ),
  "wrong size": (
    lambda request, rng: _set_shape(request.inputs["boxes"], 2, rng.choice([-1, 0, 3, 2**40])),
    "INVALID_ARGUMENT",
  ),
  "wrong rank": (
    lambda request, rng: request.inputs["boxes"].tensor_shape.dim.add(size=1) and None,
    "INVALID_ARGUMENT",
  ),
  "shape and bytes disagree": (
    lambda request, rng: setattr(
      request.inputs["features"], "tensor_content", rng.randbytes(rng.randrange(1, 200))
    ),
    "INVALID_ARGUMENT",
  ),
  "sizes disagree": (
    lambda request, rng: _put(request, "boxes", np.zeros((1, REGIONS + 1, 4), np.float32)),
    "INVALID_ARGUMENT",
  ),
  "not finite": (_not_finite, "INVALID_ARGUMENT"),
  "empty tensor": (
    lambda request, rng: request.inputs["features"].CopyFrom(tensor_pb2.TensorProto()),
    "INVALID_ARGUMENT",
  ),
  "no inputs": (lambda request, rng: request.inputs.clear(), "INVALID_ARGUMENT"),
  "missing input": (_drop, "INVALID_ARGUMENT"),
  "extra input": (
    lambda request, rng: setattr(request.inputs[rng.choice(["", "boxxes"])], "dtype", 1),
    "INVALID_ARGUMENT",
  ),
  "huge": (_huge_repeated, "INVALID_ARGUMENT"),
  "too many regions": (
    lambda request, rng: _put(
      request, "num_regions", np.array([rng.choice([-1, REGIONS + 1, 2**31 - 1])], np.int32)
    ),
    "INVALID_ARGUMENT",
  ),
  "unknown output": (
    lambda request, rng: request.output_filter.append("nonsense"),
    "INVALID_ARGUMENT",
  ),
}


def _wild_size(request: Request, rng: random.Random) -> None:
  tensor = _any_input(request, rng)
  if tensor.tensor_shape.dim:
    sizes = [-1, 0, 1, 3, 10**6, 2**40, 2**62, -(2**60)]
    rng.choice(tensor.tensor_shape.dim).size = rng.choice(sizes)


def _wild_rank(request: Request, rng: random.Random) -> None:
  tensor = _any_input(request, rng)
  for _ in range(rng.randint(1, 300)):
    tensor.tensor_shape.dim.add(size=rng.choice([1, 2, 1000]))


def _wild_content(request: Request, rng: random.Random) -> None:
  _any_input(request, rng).tensor_content = rng.randbytes(rng.randrange(400))


def _few_values(request: Request, rng: random.Random) -> None:
  tensor = _any_input(request, rng)
  tensor.ClearField("tensor_content")
  tensor.float_val.extend([rng.random()] * rng.randrange(5))


def _any_input(request: Request, rng: random.Random) -> tensor_pb2.TensorProto:
  return request.inputs[rng.choice(sorted(request.inputs) or ["boxes"])]


_WILD: tuple[Fault, ...] = (
  *(fault for fault, _ in _FAULTS.values()),
  *(_wild_size, _wild_rank, _wild_content, _few_values),
)


def _in_row(**changes: Any) -> Callable[[dict[str, Any]], tuple[str, Any]]:
  def fault(body: dict[str, Any]) -> tuple[str, Any]:
    body["instances"][0].update(changes)
    return REST_PATH, body

  return fault


def _at(path: str) -> Callable[[dict[str, Any]], tuple[str, Any]]:
  return lambda body: (path, body)


def _with(**changes: Any) -> Callable[[dict[str, Any]], tuple[str, Any]]:
  return lambda body: (REST_PATH, {**body, **changes})


# Name -> the fault (body -> path and body), and its HTTP status.
_REST_FAULTS: dict[str, tuple[Callable[[dict[str, Any]], tuple[str, Any]], int]] = {
  "no JSON": (lambda body: (REST_PATH, b"{nonsense"), 400),
  "empty body": (lambda body: (REST_PATH, b""), 400),
  "deep JSON": (lambda body: (REST_PATH, b"[" * 5000), 400),
  "no rows": (_with(instances=[]), 400),
  "rows and columns": (_with(inputs={}), 400),
  "unknown model": (_at("/v1/models/other:predict"), 404),
  "unknown version": (_at("/v1/models/captioner/versions/99:predict"), 404),
  "unknown verb": (_at("/v1/models/captioner:nonsense"), 400),
  "unknown signature": (_with(signature_name="nonsense"), 412),
  "signature of a wrong type": (_with(signature_name=3), 400),
  "words for numbers": (_in_row(boxes="nonsense"), 400),
  "ragged": (_in_row(boxes=[[0, 0, 1, 1], [0]]), 400),
  "not finite": (_in_row(boxes=[[0, 0, 1, float("nan")]] * REGIONS), 400),
  "too large for its type": (_in_row(num_regions=2**40), 400),
  "extra input": (_in_row(boxxes=1), 400),
}
