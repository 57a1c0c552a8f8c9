"""Load on a server from separate processes, so that clients and server do not share a GIL."""

import dataclasses
import json
import math
import subprocess
import sys

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2

from benchmarks import serving_client
from export import warmup_requests

METHOD = serving_client.METHOD


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
  for name, array in warmup_requests.example(specs, 1, regions, seed).items():
    message.inputs[name].CopyFrom(tf.make_tensor_proto(array))
  return message.SerializeToString()


def run(
  address: str,
  raw: bytes,
  concurrency: int,
  seconds: float = math.inf,
  requests: float = math.inf,
) -> Outcome:
  """Keeps `concurrency` requests under way, from one other process, up to either bound."""
  return _in_process("closed", address, raw, concurrency, seconds, requests)


def run_at(address: str, raw: bytes, rate: float, seconds: float, seed: int = 0) -> Outcome:
  """Sends `rate` requests a second at random moments, however slowly they are answered.

  Latencies count from the moment a request was due: a client that falls behind must not
  hide a server that does.
  """
  return _in_process("open", address, raw, rate, seconds, seed)


def _in_process(kind: str, address: str, raw: bytes, *arguments: float) -> Outcome:
  program = [sys.executable, "-m", "benchmarks.serving_client", kind, address]
  done = subprocess.run(
    [*program, *map(str, arguments)], input=raw, stdout=subprocess.PIPE, check=True
  )
  found = json.loads(done.stdout)
  return Outcome(found["seconds"], np.array(found["latencies"]), found["codes"])
