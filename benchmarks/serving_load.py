"""Load on a server from separate processes, so that clients and server do not share a GIL."""

import dataclasses
import multiprocessing
import threading
import time

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

from export import warm_up

_PAUSE = 0.02  # of a client that was refused, before it asks again


@dataclasses.dataclass(frozen=True)
class Outcome:
  """What a burst of requests met.

  Attributes:
    seconds: how long the burst took.
    latencies: seconds of every answered request.
    codes: how often each gRPC code was met; "OK" for answers.
  """

  seconds: float
  latencies: np.ndarray
  codes: dict[str, int]

  @property
  def rate(self) -> float:
    """Answers a second."""
    return len(self.latencies) / self.seconds

  def percentile(self, percent: float) -> float:
    """Latency in milliseconds; NaN where nothing was answered."""
    if not len(self.latencies):
      return float("nan")
    return float(np.percentile(self.latencies, percent) * 1000)


def request(
  specs: dict[str, tf.TensorSpec], model: str, signature: str, regions: int, seed: int = 0
) -> bytes:
  """One picture's request, serialised."""
  message = predict_pb2.PredictRequest()
  message.model_spec.name = model
  message.model_spec.signature_name = signature
  for name, array in warm_up.example(specs, 1, regions, seed).items():
    message.inputs[name].CopyFrom(tf.make_tensor_proto(array))
  return message.SerializeToString()


def run(address: str, raw: bytes, concurrency: int, seconds: float) -> Outcome:
  """Keeps `concurrency` requests under way for `seconds`, from one other process."""
  context = multiprocessing.get_context("spawn")
  queue = context.Queue()
  process = context.Process(target=_client, args=(address, raw, concurrency, seconds, queue))
  process.start()
  elapsed, latencies, codes = queue.get()
  process.join()
  return Outcome(elapsed, np.array(latencies), codes)


def _client(address: str, raw: bytes, concurrency: int, seconds: float, queue) -> None:
  message = predict_pb2.PredictRequest.FromString(raw)
  channel = grpc.insecure_channel(address)
  predict = prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict
  predict(message, timeout=60)
  lock = threading.Lock()
  latencies: list[float] = []
  codes: dict[str, int] = {}
  end = time.monotonic() + seconds

  def worker() -> None:
    while time.monotonic() < end:
      started = time.monotonic()
      try:
        predict(message, timeout=60)
        code = "OK"
      except grpc.RpcError as error:
        code = error.code().name
        time.sleep(_PAUSE)
      with lock:
        codes[code] = codes.get(code, 0) + 1
        if code == "OK":
          latencies.append(time.monotonic() - started)

  started = time.monotonic()
  threads = [threading.Thread(target=worker) for _ in range(concurrency)]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  queue.put((time.monotonic() - started, latencies, codes))
