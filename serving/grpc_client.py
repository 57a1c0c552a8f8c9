"""The gRPC client of a captioning server, as a library; `serving/client.py` is its command."""

import dataclasses
import pathlib
import random
import time
from collections.abc import Sequence

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import (
  get_model_metadata_pb2,
  get_model_status_pb2,
  model_service_pb2_grpc,
  predict_pb2,
  prediction_service_pb2_grpc,
)

from gcap_tf import errors, files
from gcap_tf.visuals import draw
from serving import region_files

RETRIED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0


@dataclasses.dataclass(frozen=True)
class GroundedCaption:
  """A caption and the boxes of its words.

  Attributes:
    caption: the words joined by spaces.
    words: the n words.
    box_index: [n] region of each word, -1 for none.
    grounded: [n] whether the word names a thing.
    boxes: [n, 4] box of each word, from 0 to 1.
    attention: [n, R] attention of each word.
    log_prob: log-probability of the caption.
  """

  caption: str
  words: tuple[str, ...]
  box_index: np.ndarray
  grounded: np.ndarray
  boxes: np.ndarray
  attention: np.ndarray
  log_prob: float

  def to_json(self) -> dict:
    return {
      "caption": self.caption,
      "words": list(self.words),
      "box_index": self.box_index.tolist(),
      "grounded": self.grounded.tolist(),
      "boxes": self.boxes.tolist(),
      "log_prob": self.log_prob,
    }


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
    prediction = prediction_service_pb2_grpc.PredictionServiceStub(self._channel)
    self._predict, self._metadata_of = prediction.Predict, prediction.GetModelMetadata
    self._status = model_service_pb2_grpc.ModelServiceStub(self._channel).GetModelStatus

  def caption(
    self,
    features: np.ndarray | Sequence[np.ndarray] | None,
    boxes: np.ndarray | Sequence[np.ndarray],
    labels: Sequence[Sequence[str]] | None = None,
    decode: str = "greedy",
  ) -> list[GroundedCaption]:
    """Captions pictures; their region counts may differ.

    The client does not send features or labels that the model does not use.

    Args:
      features: per picture [R, D]; None for a captioner of labelled regions.
      boxes: per picture [R, 4], from 0 to 1.
      labels: per picture R strings, for a captioner of labelled regions.
      decode: "greedy" or "beam".
    """
    taken = self.inputs(decode)
    inputs = pad_regions(
      features if "features" in taken else None, boxes, labels if "labels" in taken else None
    )
    outputs = self.predict(inputs, signature=decode)
    return [_caption(outputs, row, len(rows)) for row, rows in enumerate(boxes)]

  def predict(
    self, inputs: dict[str, np.ndarray], signature: str = "", version: int | None = None
  ) -> dict[str, np.ndarray]:
    """Calls a signature with whole tensors; a refusal is a `UserError`."""
    request = predict_pb2.PredictRequest()
    request.model_spec.name = self.model
    request.model_spec.signature_name = signature
    if version is not None:
      request.model_spec.version.value = version
    for name, array in inputs.items():
      request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
    response = self._call(self._predict, request)
    return {name: tf.make_ndarray(tensor) for name, tensor in response.outputs.items()}

  def inputs(self, signature: str) -> set[str]:
    """Returns the names of a signature's inputs."""
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = self.model
    signatures = get_model_metadata_pb2.SignatureDefMap()
    self._call(self._metadata_of, request).metadata["signature_def"].Unpack(signatures)
    if signature not in signatures.signature_def:
      known = ", ".join(sorted(n for n in signatures.signature_def if not n.startswith("__")))
      raise errors.UserError(f'model {self.model} has no signature "{signature}"; known: {known}')
    return set(signatures.signature_def[signature].inputs)

  def versions(self) -> dict[int, str]:
    """Returns version -> state, such as {3: "AVAILABLE"}."""
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = self.model
    response = self._call(self._status, request)
    names = get_model_status_pb2.ModelVersionStatus.State
    return {entry.version: names.Name(entry.state) for entry in response.model_version_status}

  def close(self) -> None:
    self._channel.close()

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
  counts = [len(rows) for rows in boxes]
  most = max(counts, default=0)

  def stack(arrays: Sequence[np.ndarray], size: int) -> np.ndarray:
    stacked = np.zeros((len(counts), most, size), np.float32)
    for row, array in enumerate(arrays):
      if len(array) != counts[row]:
        raise errors.UserError(
          f"picture {row} has {counts[row]} boxes and {len(array)} rows of features"
        )
      stacked[row, : counts[row]] = array
    return stacked

  inputs = {"boxes": stack(boxes, 4), "num_regions": np.array(counts, np.int32)}
  if features is not None:
    inputs["features"] = stack(features, max((np.shape(f)[-1] for f in features), default=0))
  if labels is not None:
    inputs["labels"] = np.full((len(counts), most), b"", object)
    for row, names in enumerate(labels):
      inputs["labels"][row, : len(names)] = [name.encode() for name in names]
  return inputs


def write_picture(
  answer: GroundedCaption, regions: region_files.PictureRegions, path: files.PathLike
) -> None:
  """Draws the caption and the boxes of its nouns on the picture, or on an empty canvas."""
  drawn = draw.grounded_caption(
    regions.picture or None,
    answer.words,
    answer.boxes,
    answer.grounded.tolist(),
    attention=answer.attention,
    regions_01=regions.boxes,
    labels=regions.labels or (),
  )
  suffix = pathlib.Path(path).suffix.lower()
  kinds = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
  if suffix not in kinds:
    raise errors.UserError(f"{path}: pictures are written as .png or .jpg")
  with files.atomic_path(path) as partial:
    drawn.save(partial, format=kinds[suffix])


def _caption(outputs: dict[str, np.ndarray], row: int, regions: int) -> GroundedCaption:
  count = int(outputs["length"][row])
  return GroundedCaption(
    caption=outputs["caption"][row].decode(),
    words=tuple(word.decode() for word in outputs["words"][row, :count]),
    box_index=outputs["box_index"][row, :count],
    grounded=outputs["grounded"][row, :count],
    boxes=outputs["box"][row, :count],
    attention=outputs["attention"][row, :count, :regions],
    log_prob=float(outputs["log_prob"][row]),
  )
