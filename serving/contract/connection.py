"""The connection of the cases to a server, and the requests that they send."""

import json
import urllib.error
import urllib.request
from typing import Any

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import (
  get_model_metadata_pb2,
  model_service_pb2_grpc,
  predict_pb2,
  prediction_service_pb2_grpc,
)

from gcap_tf import errors

_TIMEOUT = 30.0


class Connection:
  """A server under test, and the inputs of its captioner.

  Attributes:
    model: name of the model.
    prediction, models: gRPC stubs.
    input_specs: input name -> (type, shape) of the greedy signature.
    max_length: T of the answers.
  """

  def __init__(self, address: str, rest: str | None, model: str):
    self.model, self._rest = model, rest
    self._channel = grpc.insecure_channel(address)
    self.prediction = prediction_service_pb2_grpc.PredictionServiceStub(self._channel)
    self.models = model_service_pb2_grpc.ModelServiceStub(self._channel)
    signature = self.signatures()["greedy"]
    self.input_specs = {
      name: (tf.as_dtype(info.dtype), [dim.size for dim in info.tensor_shape.dim])
      for name, info in signature.inputs.items()
    }
    self.max_length = signature.outputs["words"].tensor_shape.dim[1].size

  @property
  def has_rest(self) -> bool:
    return self._rest is not None

  def close(self) -> None:
    self._channel.close()

  def signatures(self) -> Any:
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = self.model
    try:
      response = self.prediction.GetModelMetadata(request, timeout=_TIMEOUT, wait_for_ready=True)
    except grpc.RpcError as error:
      raise errors.UserError(
        f"no captioner answers: {error.code().name} {error.details()}"
      ) from None
    found = get_model_metadata_pb2.SignatureDefMap()
    response.metadata["signature_def"].Unpack(found)
    return found.signature_def

  def inputs(self, pictures: int = 1, regions: int = 5, seed: int = 0) -> dict[str, np.ndarray]:
    """Returns random regions in the sizes of the model's inputs."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 0.5, (pictures, regions, 2))
    drawn = {
      "boxes": np.concatenate([low, low + 0.4], -1).astype(np.float32),
      "num_regions": rng.integers(min(1, regions), regions + 1, pictures).astype(np.int32),
    }
    for name, (dtype, shape) in self.input_specs.items():
      if name in drawn:
        continue
      sizes = [pictures, regions, *shape[2:]] if len(shape) > 2 else [pictures, regions]
      if name == "global_feature":
        sizes = [pictures, shape[1]]
      if dtype == tf.string:
        drawn[name] = np.full(sizes, b"thing", object)
      else:
        drawn[name] = rng.normal(size=sizes).astype(dtype.as_numpy_dtype)
    return drawn

  def request(
    self, inputs: dict[str, np.ndarray], signature: str = "greedy"
  ) -> predict_pb2.PredictRequest:
    request = predict_pb2.PredictRequest()
    request.model_spec.name = self.model
    request.model_spec.signature_name = signature
    for name, array in inputs.items():
      request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
    return request

  def predict(
    self, inputs: dict[str, np.ndarray], signature: str = "greedy"
  ) -> dict[str, np.ndarray]:
    response = self.prediction.Predict(self.request(inputs, signature), timeout=_TIMEOUT)
    return {name: tf.make_ndarray(value) for name, value in response.outputs.items()}

  def code(self, request: predict_pb2.PredictRequest) -> str:
    """Returns the gRPC code of the answer to a request."""
    try:
      self.prediction.Predict(request, timeout=_TIMEOUT)
    except grpc.RpcError as error:
      return error.code().name
    return "OK"

  def rest(self, path: str, body: Any = None) -> tuple[int, Any]:
    """Returns HTTP status and JSON (or text) of a call."""
    data = None if body is None else json.dumps(body).encode()
    try:
      with urllib.request.urlopen(f"http://{self._rest}{path}", data, _TIMEOUT) as answer:
        return answer.status, _decode(answer.read())
    except urllib.error.HTTPError as error:
      return error.code, _decode(error.read())


def _decode(content: bytes) -> Any:
  try:
    return json.loads(content)
  except ValueError:
    return content.decode("utf-8", "replace")
