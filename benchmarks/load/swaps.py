"""New versions under load, bad ones among them.

Versions alternate between two models with different weights. An answer names its version; it must
be the answer of that version's model, whole. Every fifth new version is damaged: the one before
must go on answering. Latencies are compared with those before the first swap.
"""

import pathlib
import random
import shutil
import tempfile
import threading
import time

import grpc
import numpy as np
from tensorflow_serving.apis import model_pb2, predict_pb2

from benchmarks.load import bursts, probes, swap_models
from benchmarks.reliability import damage
from serving import embedded

_BAD = 5  # every so many versions
_WAIT = 600.0  # seconds for a version to be loaded
_PAUSE = 0.005  # seconds of a caller between two requests; without it, loading starves
_SLOW = 1.5  # times the p99 before; means something on a quiet machine alone
_CALM = 50  # requests of each caller before the first swap


def swap(count: int, workers: int = 4, seed: int = 0, model: str = "scaled") -> dict:
  """Adds `count` versions one after the other while `workers` callers ask.

  Args:
    count: number of versions.
    workers: number of callers.
    seed: of the request and the damage.
    model: of `swap_models.MODELS`.
  """
  kind = swap_models.MODELS[model]
  tally, done, calm = probes.Tally(), threading.Event(), threading.Barrier(workers + 1)
  quiet, busy, mixed = [], [], []
  raw = kind.request(seed)
  with tempfile.TemporaryDirectory() as folder:
    models = [
      kind.save(pathlib.Path(folder, name), number) for name, number in (("a", 3.0), ("b", 5.0))
    ]
    base = pathlib.Path(folder, "served")
    shutil.copytree(models[1], base / "1")
    with probes.server_of(base, kind.name) as server:
      wanted = {1: _answer(server, kind, raw)}
      known = threading.Event()

      def ask(predict, into: list[float]) -> None:
        started = time.monotonic()
        try:
          found, code = predict(raw, timeout=60), "OK"
        except grpc.RpcError as error:
          found, code = b"", error.code().name
        into.append(time.monotonic() - started)
        tally.add("request", code, {"OK"}, len(raw))
        if found:
          version, content = _content(kind, found)
          if content != wanted.get(version % 2, content):
            mixed.append(version)
        time.sleep(_PAUSE)

      def worker(_: int) -> None:
        with grpc.insecure_channel(server.address) as channel:
          predict = channel.unary_unary(bursts.METHOD)
          for _ in range(_CALM):
            ask(predict, quiet)
          calm.wait()
          known.wait()
          while not done.is_set():
            ask(predict, busy)

      callers = threading.Thread(target=probes.run_threads, args=(worker, workers))
      callers.start()
      try:
        calm.wait()
        _publish(base, 2, models[0])
        _wait_for(server, 2)
        wanted[0] = _answer(server, kind, raw)
        known.set()
        megabytes = [probes.megabytes()]
        bad = _publish_many(server, base, models, count, random.Random(seed))
        megabytes.append(probes.megabytes())
      finally:
        known.set()
        done.set()
        callers.join()
  before, during = (float(np.percentile(each, 99) * 1000) for each in (quiet, busy))
  return {
    "held": wanted[0] != wanted[1] and not tally.wrong and not mixed,
    "swaps": count,
    "rounds": 1,
    "slow_rounds": int(during > _SLOW * before),
    "bad_versions": bad,
    "mixed": len(mixed),
    "megabytes": megabytes,
    "p99_ms_before": round(before, 1),
    "p99_ms_during": round(during, 1),
    "p99_times": round(during / before, 2),
    **tally.figures(),
  }


def _publish_many(server, base, models, count: int, rng: random.Random) -> int:
  """Publishes versions from 3 on; returns how many of them were bad."""
  bad, good = 0, 2
  for number in range(3, count + 2):
    if number % _BAD == 0:
      _publish(base, number, models[number % 2], rng)
      _wait_for(server, good, failed=number)
      shutil.rmtree(base / str(number))
      bad += 1
      continue
    _publish(base, number, models[number % 2])
    _wait_for(server, number)
    shutil.rmtree(base / str(good))
    good = number
  return bad


def _publish(base, number: int, model: pathlib.Path, rng: random.Random | None = None) -> None:
  """Copies a version and renames it; with `rng`, its graph is cut short first."""
  partial = base / f".{number}.partial"
  shutil.copytree(model, partial)
  if rng is not None:
    graph = partial / "saved_model.pb"
    graph.write_bytes(damage.cut(graph.read_bytes()[:4096], rng))
  partial.rename(base / str(number))


def _wait_for(server: embedded.Server, number: int, failed: int = 0) -> None:
  """Waits until a version is the only available one, and another has been given up."""
  deadline = time.monotonic() + _WAIT
  while time.monotonic() < deadline:
    (name,) = available = server.models.available()
    statuses = server.models.statuses(model_pb2.ModelSpec(name=name))
    given_up = {each.version for each in statuses if each.status.error_code}
    if available[name] == [number] and failed in {0, *given_up}:
      return
    time.sleep(0.01)
  raise TimeoutError(f"version {number} did not become the only one")


def _answer(server: embedded.Server, kind: swap_models.SwapModel, raw: bytes) -> dict[str, bytes]:
  with grpc.insecure_channel(server.address) as channel:
    return _content(kind, channel.unary_unary(bursts.METHOD)(raw, timeout=60))[1]


def _content(kind: swap_models.SwapModel, raw: bytes) -> tuple[int, dict[str, bytes]]:
  """Version and exact outputs of a serialised answer."""
  answer = predict_pb2.PredictResponse.FromString(raw)
  outputs = {name: answer.outputs[name].SerializeToString() for name in kind.exact}
  return answer.model_spec.version.value, outputs
