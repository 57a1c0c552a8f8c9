"""A running server with the tiny model, and short ways to ask it."""

import contextlib
import json
import pathlib
import time
import urllib.error
import urllib.request

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

from serving import embedded, versions
from tests.serving import tiny_models


def config(base: pathlib.Path, **options) -> embedded.ServerConfig:
  model = versions.ModelConfig("captioner", base)
  return embedded.ServerConfig(models=(model,), **{"poll_seconds": 0.05, **options})


@contextlib.contextmanager
def serving(base: pathlib.Path, **options):
  with embedded.Server(config(base, **options)) as server:
    yield server


def predict_request(
  inputs: dict[str, np.ndarray], signature: str = "", **spec
) -> predict_pb2.PredictRequest:
  request = predict_pb2.PredictRequest()
  request.model_spec.name = spec.get("name", "captioner")
  request.model_spec.signature_name = signature
  if "version" in spec:
    request.model_spec.version.value = spec["version"]
  if "label" in spec:
    request.model_spec.version_label = spec["label"]
  for name, array in inputs.items():
    request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
  return request


class Caller:
  """Asks one server over gRPC and REST."""

  def __init__(self, server: embedded.Server):
    self.server = server
    self.channel = grpc.insecure_channel(server.address)
    self.stub = prediction_service_pb2_grpc.PredictionServiceStub(self.channel)

  def predict(self, inputs, signature="", timeout=60.0, **spec) -> dict[str, np.ndarray]:
    request = predict_request(inputs, signature, **spec)
    response = self.stub.Predict(request, timeout=timeout)
    return {name: tf.make_ndarray(value) for name, value in response.outputs.items()}

  def error(self, request, timeout=60.0) -> tuple[grpc.StatusCode, str]:
    """Code and message of a request that must be refused."""
    try:
      self.stub.Predict(request, timeout=timeout)
    except grpc.RpcError as error:
      return error.code(), error.details()
    raise AssertionError("the request was answered")

  def rest(self, path: str, body=None, headers=None) -> tuple[int, dict]:
    """Status and JSON of a REST call; `body` is JSON or bytes."""
    status, _, content = self.raw(path, body, headers)
    return status, json.loads(content)

  def raw(self, path: str, body=None, headers=None) -> tuple[int, dict, bytes]:
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    url = f"http://{self.server.rest_address}{path}"
    request = urllib.request.Request(url, data, headers or {})
    try:
      with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
      return error.code, dict(error.headers), error.read()

  def close(self) -> None:
    self.channel.close()


def check_answer(inputs: dict[str, np.ndarray], answer: dict[str, np.ndarray], version: int):
  for name, wanted in tiny_models.expected(inputs, version).items():
    np.testing.assert_allclose(answer[name], wanted, rtol=1e-5, atol=1e-5, err_msg=name)


def wait_until(condition, seconds: float = 60.0) -> None:
  end = time.monotonic() + seconds
  while not condition():
    if time.monotonic() > end:
      raise AssertionError("waited in vain")
    time.sleep(0.02)
