"""Sends load to a server from another process, so that both do not share a GIL."""

import dataclasses
import json
import math
import subprocess
import sys

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2

from benchmarks.load import client
from export import warmup_requests

METHOD = client.METHOD


@dataclasses.dataclass(frozen=True)
class Outcome:
  """The outcome of a burst of requests.

  Attributes:
    seconds: duration of the burst.
    latencies: seconds of every answered request.
    codes: number of answers with each gRPC code.
    refusals: seconds of every refused request.
  """

  seconds: float
  latencies: np.ndarray
  codes: dict[str, int]
  refusals: np.ndarray = dataclasses.field(default_factory=lambda: np.array([]))

  @property
  def rate(self) -> float:
    """Answers per second."""
    return len(self.latencies) / self.seconds

  def percentile(self, percent: float, refused: bool = False) -> float:
    """Returns a latency in milliseconds, of answers or of refusals; NaN if there was none."""
    latencies = self.refusals if refused else self.latencies
    if not len(latencies):
      return float("nan")
    return float(np.percentile(latencies, percent) * 1000)


def request(
  specs: dict[str, tf.TensorSpec], model: str, signature: str, regions: int, seed: int = 0
) -> bytes:
  """Returns a serialised request with one picture."""
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
  """Keeps `concurrency` requests running until `seconds` or `requests` is reached."""
  return _in_process("closed", address, raw, concurrency, seconds, requests)


def run_at(address: str, raw: bytes, rate: float, seconds: float, seed: int = 0) -> Outcome:
  """Sends `rate` requests per second at random moments, even if the answers are slow.

  Latencies count from the planned moment of a request, so that a slow client does not hide
  a slow server.
  """
  return _in_process("open", address, raw, rate, seconds, seed)


def _in_process(kind: str, address: str, raw: bytes, *arguments: float) -> Outcome:
  program = [sys.executable, "-m", "benchmarks.load.client", kind, address]
  done = subprocess.run(
    [*program, *map(str, arguments)], input=raw, stdout=subprocess.PIPE, check=True
  )
  found = json.loads(done.stdout)
  latencies, refusals = (np.array(found[name]) for name in ("latencies", "refusals"))
  return Outcome(found["seconds"], latencies, found["codes"], refusals)
