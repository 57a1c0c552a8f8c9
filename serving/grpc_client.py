"""The gRPC client of a captioning server, as a library; `serving/client.py` is its command.

It needs grpcio, protobuf, NumPy and Pillow, and does not import TensorFlow.
"""

import pathlib
import random
import time
from collections.abc import Sequence

import grpc
import numpy as np

from gcap_tf import errors, files
from serving.wire import answers, arrays, messages, picture_files, region_checks

RETRIED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
GroundedCaption = answers.GroundedCaption
# How words are chosen -> signature that captions photographs.
PHOTOGRAPH_SIGNATURES = {"greedy": "caption_image", "beam": "caption_image_beam"}
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0


class Client:
  """A connection to one model of a server."""

  def __init__(
    self,
    address: str,
    *,
    model: str = "captioner",
    token: str = "",
    tls_ca: files.PathLike | None = None,
    timeout: float = 30.0,
  ):
    """Opens no connection before the first call.

    Args:
      address: HOST:PORT of the gRPC server.
      model: name of the model.
      token: sent as `authorization: Bearer TOKEN`.
      tls_ca: PEM file to check the server's certificate with; turns TLS on.
      timeout: seconds for one call, including retries.
    """
    self.address, self.model, self.timeout = address, model, timeout
    self._metadata = [("authorization", f"Bearer {token}")] if token else []
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    if tls_ca is None:
      self._channel = grpc.insecure_channel(address, options)
    else:
      credentials = grpc.ssl_channel_credentials(pathlib.Path(tls_ca).read_bytes())
      self._channel = grpc.secure_channel(address, credentials, options)
    self._predict = self._method(messages.PREDICT, messages.PredictResponse)
    self._metadata_of = self._method(messages.METADATA, messages.GetModelMetadataResponse)
    self._status = self._method(messages.STATUS, messages.GetModelStatusResponse)

  def caption(
    self,
    features: np.ndarray | Sequence[np.ndarray] | None,
    boxes: np.ndarray | Sequence[np.ndarray],
    labels: Sequence[Sequence[str]] | None = None,
    decode: str = "greedy",
  ) -> list[GroundedCaption]:
    """Captions pictures by their regions, whose number may differ.

    The client does not send features or labels that the model does not use. Boxes that are not
    from 0 to 1 and labels that are not one list per picture are a `UserError`.

    Args:
      features: per picture [R, D]; None for a captioner of labelled regions.
      boxes: per picture [R, 4], from 0 to 1.
      labels: per picture R strings, for a captioner of labelled regions.
      decode: "greedy" or "beam".
    """
    inputs = pad_regions(features, boxes, labels)
    taken = self.inputs(decode)
    missing = taken - set(inputs)
    if missing:
      raise errors.UserError(f"model {self.model} reads {', '.join(sorted(missing))}; send them")
    sent = {name: array for name, array in inputs.items() if name in taken}
    outputs = self.predict(sent, signature=decode)
    return [answers.read(outputs, row, len(rows)) for row, rows in enumerate(boxes)]

  def caption_pictures(
    self, pictures: Sequence[bytes | files.PathLike], decode: str = "greedy"
  ) -> list[GroundedCaption]:
    """Captions photographs: files, or the bytes of files.

    An answer whose `error` is not empty is of a picture that the server could not read.
    """
    if isinstance(pictures, (bytes, str, pathlib.Path)):
      raise errors.UserError("pictures must be a list; for one picture send [picture]")
    signature = PHOTOGRAPH_SIGNATURES.get(decode, decode)
    encoded = np.empty(len(pictures), object)
    encoded[:] = [
      picture_files.encode(picture) if isinstance(picture, bytes) else picture_files.read(picture)
      for picture in pictures
    ]
    if signature not in self.signatures():
      raise errors.UserError(
        f'model {self.model} has no signature "{signature}"; it captions regions, not '
        "photographs: use --detections or --regions"
      )
    outputs = self.predict({"image_bytes": encoded}, signature=signature)
    return [answers.read(outputs, row, None) for row in range(len(pictures))]

  def predict(
    self, inputs: dict[str, np.ndarray], signature: str = "", version: int | None = None
  ) -> dict[str, np.ndarray]:
    """Calls a signature with whole tensors; a refusal is a `UserError`."""
    request = messages.PredictRequest()
    request.model_spec.name = self.model
    request.model_spec.signature_name = signature
    if version is not None:
      request.model_spec.version.value = version
    for name, array in inputs.items():
      request.inputs[name].CopyFrom(arrays.to_tensor(array))
    response = self._call(self._predict, request)
    return {name: arrays.to_array(tensor) for name, tensor in response.outputs.items()}

  def signatures(self) -> dict[str, set[str]]:
    """Returns the signatures of the model, each with the names of its inputs."""
    request = messages.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = self.model
    packed = self._call(self._metadata_of, request).metadata["signature_def"].value
    found = messages.SignatureDefMap.FromString(packed).signature_def
    return {name: set(found[name].inputs) for name in found if not name.startswith("__")}

  def inputs(self, signature: str) -> set[str]:
    """Returns the names of a signature's inputs."""
    found = self.signatures()
    if signature not in found:
      known = ", ".join(sorted(found))
      raise errors.UserError(f'model {self.model} has no signature "{signature}"; known: {known}')
    return found[signature]

  def versions(self) -> dict[int, str]:
    """Returns the versions of the model and their states."""
    request = messages.GetModelStatusRequest()
    request.model_spec.name = self.model
    response = self._call(self._status, request)
    return {v.version: messages.STATES.get(v.state, "") for v in response.model_version_status}

  def close(self) -> None:
    self._channel.close()

  def _method(self, path: str, response: type) -> grpc.UnaryUnaryMultiCallable:
    return self._channel.unary_unary(
      path,
      request_serializer=lambda request: request.SerializeToString(),
      response_deserializer=response.FromString,
    )

  def _call(self, method, request):
    """Calls a method; while the server is full, pauses and calls again until the timeout."""
    deadline = time.monotonic() + self.timeout
    pause = _FIRST_PAUSE
    while True:
      try:
        left = max(0.001, deadline - time.monotonic())
        return method(request, timeout=left, metadata=self._metadata)
      except grpc.RpcError as error:
        # Full jitter: clients that were refused together must not retry together.
        wait = random.uniform(0, pause)
        if error.code() not in RETRIED or time.monotonic() + wait >= deadline:
          raise errors.UserError(
            f"server {self.address} answered {error.code().name}: {error.details()}"
          ) from error
        time.sleep(wait)
        pause = min(2 * pause, _LONGEST_PAUSE)


def pad_regions(
  features: Sequence[np.ndarray] | None,
  boxes: Sequence[np.ndarray],
  labels: Sequence[Sequence[str]] | None,
) -> dict[str, np.ndarray]:
  """Returns the tensors of a request, padded to the largest number of regions."""
  _raise(region_checks.box_shape_problem(boxes))
  counts = [len(rows) for rows in boxes]
  most = max(counts, default=0)

  def stack(found: Sequence[np.ndarray], size: int) -> np.ndarray:
    stacked = np.zeros((len(counts), most, size), np.float32)
    for row, array in enumerate(found):
      if len(array) != counts[row]:
        raise errors.UserError(
          f"picture {row} has {counts[row]} boxes and {len(array)} rows of features"
        )
      if counts[row]:
        stacked[row, : counts[row]] = array
    return stacked

  inputs = {"boxes": stack(boxes, 4), "num_regions": np.array(counts, np.int32)}
  _raise(region_checks.box_problem(inputs["boxes"], counts))
  if features is not None:
    inputs["features"] = stack(features, max((np.shape(f)[-1] for f in features), default=0))
  if labels is not None:
    _raise(region_checks.label_problem(labels, counts))
    inputs["labels"] = np.full((len(counts), most), b"", object)
    for row, names in enumerate(labels):
      inputs["labels"][row, : len(names)] = [_bytes(name) for name in names]
  return inputs


def _raise(problem: str | None) -> None:
  if problem:
    raise errors.UserError(problem)


def _bytes(name: str | bytes) -> bytes:
  return name if isinstance(name, bytes) else name.encode()
