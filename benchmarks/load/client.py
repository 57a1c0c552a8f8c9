"""The client of load measurements, a small program that needs little processor time.

    python -m benchmarks.load.client closed ADDRESS CONCURRENCY SECONDS REQUESTS < request
    python -m benchmarks.load.client open ADDRESS RATE SECONDS SEED < request

It reads the serialised request from standard input and writes the outcome to standard output
as JSON. It does not import TensorFlow.
"""

import itertools
import json
import sys
import threading
import time
from collections.abc import Callable

import grpc
import numpy as np

METHOD = "/tensorflow.serving.PredictionService/Predict"
_PAUSE = 0.02  # seconds before a refused client tries again


class Tally:
  """The codes and latencies of a client, filled by many threads."""

  def __init__(self):
    self.latencies: list[float] = []
    self.refusals: list[float] = []
    self.codes: dict[str, int] = {}
    self.lock = threading.Lock()

  def add(self, code: str, latency: float) -> None:
    with self.lock:
      self.codes[code] = self.codes.get(code, 0) + 1
      (self.latencies if code == "OK" else self.refusals).append(latency)


def _connect(address: str, raw: bytes) -> Callable:
  """Returns Predict on bytes, which costs the client little time, after one warm-up call."""
  predict = grpc.insecure_channel(address).unary_unary(METHOD)
  predict(raw, timeout=60)
  return predict


def closed_loop(address: str, raw: bytes, concurrency: float, seconds: float, requests: float):
  predict = _connect(address, raw)
  tally, turns = Tally(), itertools.count()
  began = time.monotonic()

  def worker() -> None:
    while time.monotonic() < began + seconds and next(turns) < requests:
      started = time.monotonic()
      try:
        predict(raw, timeout=60)
        code = "OK"
      except grpc.RpcError as error:
        code = error.code().name
      tally.add(code, time.monotonic() - started)
      if code != "OK":
        time.sleep(_PAUSE)

  threads = [threading.Thread(target=worker) for _ in range(int(concurrency))]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  return time.monotonic() - began, tally


def open_loop(address: str, raw: bytes, rate: float, seconds: float, seed: float):
  predict = _connect(address, raw)
  tally, pending = Tally(), []
  gaps = np.random.default_rng(int(seed)).exponential(1 / rate, max(1, round(rate * seconds)))
  began = time.monotonic()
  for due in began + np.cumsum(gaps):
    time.sleep(max(0.0, due - time.monotonic()))
    call = predict.future(raw, timeout=60)
    call.add_done_callback(
      lambda done, due=due: tally.add(done.code().name, time.monotonic() - due)
    )
    pending.append(call)
  for call in pending:
    call.exception()
  while sum(tally.codes.values()) < len(pending):
    time.sleep(0.001)  # the last callbacks
  return time.monotonic() - began, tally


def main() -> None:
  kind, address, *numbers = sys.argv[1:]
  loop = {"closed": closed_loop, "open": open_loop}[kind]
  seconds, tally = loop(address, sys.stdin.buffer.read(), *map(float, numbers))
  found = {"latencies": tally.latencies, "refusals": tally.refusals, "codes": tally.codes}
  print(json.dumps({"seconds": seconds, **found}))


if __name__ == "__main__":
  main()
