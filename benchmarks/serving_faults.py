"""What a server survives: the published figures of docs and README come from here.

    python -m benchmarks.serving_faults --cases=fuzz --requests=1000000
    python -m benchmarks.serving_faults --cases=junk,swaps,overload,memory

Each case runs a real server in this process and prints one line; the exit code is 0 when
every case held. Small counts run with the tests (tests/benchmarks/test_serving_faults.py).
"""

import json
import os
import pathlib
import random
import shutil
import socket
import tempfile
import threading
import time

import grpc
import numpy as np
import tensorflow as tf
from absl import flags
from tensorflow.core.framework import tensor_pb2
from tensorflow_serving.apis import predict_pb2

from benchmarks import serving_load, serving_model
from gcap_tf import errors
from serving import embedded, versions
from serving import limits as limits_lib

REFUSALS = {"INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED"}
METHOD = "/tensorflow.serving.PredictionService/Predict"
FEATURES = 16


def tiny_model(folder: pathlib.Path) -> pathlib.Path:
  """Exports a captioner that answers within a few milliseconds; returns its base path."""
  return serving_model.export(folder, hidden=16, features=FEATURES, words=20)


def server_of(base: pathlib.Path, **options) -> embedded.Server:
  model = versions.ModelConfig("captioner", base)
  return embedded.Server(embedded.ServerConfig(models=(model,), poll_seconds=0.1, **options))


def good_request(seed: int = 0) -> predict_pb2.PredictRequest:
  raw = serving_load.request(serving_model.specs(FEATURES), "captioner", "greedy", 4, seed)
  return predict_pb2.PredictRequest.FromString(raw)


def damaged(rng: random.Random) -> bytes:
  """A request with one to three things wrong, or plain noise."""
  if rng.random() < 0.15:
    return rng.randbytes(rng.randrange(200))
  request = good_request(rng.randrange(100))
  for _ in range(rng.randint(1, 3)):
    rng.choice(_DAMAGES)(request, rng)
  raw = bytearray(request.SerializeToString())
  if rng.random() < 0.2:
    for _ in range(rng.randint(1, 8)):
      raw[rng.randrange(len(raw))] = rng.randrange(256)
  if rng.random() < 0.1:
    del raw[rng.randrange(len(raw)) :]
  return bytes(raw)


def _input(request: predict_pb2.PredictRequest, rng: random.Random) -> tensor_pb2.TensorProto:
  names = sorted(request.inputs) or ["boxes"]
  return request.inputs[rng.choice(names)]


def _wrong_size(request, rng):
  tensor = _input(request, rng)
  if tensor.tensor_shape.dim:
    dim = rng.choice(tensor.tensor_shape.dim)
    dim.size = rng.choice([-1, 0, 1, 3, 10**6, 2**40, 2**62, -(2**60)])


def _wrong_type(request, rng):
  _input(request, rng).dtype = rng.choice([0, 1, 2, 3, 7, 9, 10, 19, 23, 101, 999])


def _wrong_rank(request, rng):
  tensor = _input(request, rng)
  for _ in range(rng.randint(1, 300)):
    tensor.tensor_shape.dim.add(size=rng.choice([1, 2, 1000]))


def _wrong_content(request, rng):
  tensor = _input(request, rng)
  tensor.tensor_content = rng.randbytes(rng.randrange(400))


def _not_finite(request, rng):
  tensor = request.inputs["features"]
  values = np.array(rng.choices([0.0, np.nan, np.inf, -np.inf, 3e38], k=4 * FEATURES), np.float32)
  tensor.CopyFrom(tf.make_tensor_proto(values.reshape(1, 4, FEATURES)))


def _few_values(request, rng):
  tensor = _input(request, rng)
  tensor.ClearField("tensor_content")
  tensor.float_val.extend([rng.random()] * rng.randrange(5))


def _wrong_count(request, rng):
  count = rng.choice([-(2**31), -1, 5, 10**9, 2**31 - 1])
  request.inputs["num_regions"].CopyFrom(tf.make_tensor_proto(np.array([count], np.int32)))


def _missing(request, rng):
  if request.inputs:
    del request.inputs[rng.choice(sorted(request.inputs))]


def _extra(request, rng):
  request.inputs[rng.choice(["", "boxxes", "x" * 5000, "\u2603"])].dtype = 1


def _wrong_names(request, rng):
  spec = request.model_spec
  what = rng.randrange(4)
  if what == 0:
    spec.name = rng.choice(["", "other", "../captioner", "x" * 10**4])
  elif what == 1:
    spec.signature_name = rng.choice(["nonsense", "__saved_model_init_op", "x" * 10**4])
  elif what == 2:
    spec.version.value = rng.choice([-1, 0, 99, 2**62])
  else:
    spec.version_label = rng.choice(["", "stable", "x" * 10**4])


def _wrong_filter(request, rng):
  request.output_filter.extend(rng.choices(["caption", "words", "", "nonsense"], k=3))


_DAMAGES = (
  *(_wrong_size, _wrong_type, _wrong_rank, _wrong_content, _not_finite, _few_values),
  *(_wrong_count, _missing, _extra, _wrong_names, _wrong_filter),
)


def fuzz(base: pathlib.Path, requests: int, workers: int = 4, seed: int = 0) -> dict:
  """Damaged requests: each must be answered in time, with an answer or a refusal."""
  codes: dict[str, int] = {}
  lock = threading.Lock()
  with server_of(base) as server:
    before = resident_bytes()

    def worker(number: int) -> None:
      rng = random.Random(seed * 1000 + number)
      with grpc.insecure_channel(server.address) as channel:
        predict = channel.unary_unary(METHOD)
        for _ in range(requests // workers):
          try:
            predict(damaged(rng), timeout=30)
            code = "OK"
          except grpc.RpcError as error:
            code = error.code().name
          with lock:
            codes[code] = codes.get(code, 0) + 1

    _run_threads(worker, workers)
    alive = _answers(server)
    grown = resident_bytes() - before
  held = alive and set(codes) <= REFUSALS | {"OK"}
  return {"held": held, "codes": codes, "grown_megabytes": round(grown / 2**20, 1)}


def junk(base: pathlib.Path, connections: int, seed: int = 0) -> dict:
  """Random bytes, half requests and cut connections on both ports."""
  rng = random.Random(seed)
  with server_of(base) as server:
    before = _open_files()
    for number in range(connections):
      port = (server.port, server.rest_port)[number % 2]
      with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        start = rng.choice([b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"POST / HTTP/1.1\r\n"])
        connection.sendall(start + rng.randbytes(rng.randrange(600)))
    alive = _answers(server)
    deadline = time.monotonic() + 20
    while _open_files() > before + 8 and time.monotonic() < deadline:
      time.sleep(0.1)
    left = _open_files() - before
  return {"held": alive and left <= 8, "connections": connections, "files_left_open": left}


def swaps(base: pathlib.Path, count: int, workers: int = 4) -> dict:
  """New versions under load: no request may fail."""
  stop = threading.Event()
  codes: dict[str, int] = {}
  lock = threading.Lock()
  stored = base / "1"
  with server_of(base) as server:

    def worker(number: int) -> None:
      with grpc.insecure_channel(server.address) as channel:
        predict = channel.unary_unary(METHOD)
        raw = good_request(number).SerializeToString()
        while not stop.is_set():
          try:
            predict(raw, timeout=60)
            code = "OK"
          except grpc.RpcError as error:
            code = f"{error.code().name}: {error.details()}"
          with lock:
            codes[code] = codes.get(code, 0) + 1

    loaders = [threading.Thread(target=worker, args=(n,)) for n in range(workers)]
    for thread in loaders:
      thread.start()
    for number in range(2, count + 2):
      partial = base / f".{number}.partial"
      shutil.copytree(stored, partial)
      partial.rename(base / str(number))
      while server.models.available()["captioner"] != [number]:
        time.sleep(0.01)
      if number > 2:
        shutil.rmtree(base / str(number - 1))
    stop.set()
    for thread in loaders:
      thread.join()
  shutil.rmtree(base / str(count + 1))
  return {"held": set(codes) == {"OK"}, "swaps": count, "codes": codes}


def overload(base: pathlib.Path, seconds: float, concurrency: int = 64) -> dict:
  """Far more requests than fit: some are refused at once, the others are answered."""
  few = limits_lib.Limits(in_flight=8)
  raw = good_request().SerializeToString()
  with server_of(base, limits=few) as server:
    calm = serving_load.run(server.address, raw, 8, seconds)
    full = serving_load.run(server.address, raw, concurrency, seconds)
    alive = _answers(server)
  held = alive and set(full.codes) <= {"OK", "UNAVAILABLE", "RESOURCE_EXHAUSTED"}
  return {
    "held": held,
    "answers_per_second_at_capacity": round(calm.rate, 1),
    "answers_per_second_overloaded": round(full.rate, 1),
    "p99_ms_at_capacity": round(calm.percentile(99), 1),
    "p99_ms_overloaded": round(full.percentile(99), 1),
    "codes": full.codes,
  }


def memory(base: pathlib.Path, seconds: float) -> dict:
  """Steady load: the resident memory after the first third must not go on growing."""
  raw = good_request().SerializeToString()
  with server_of(base) as server:
    serving_load.run(server.address, raw, 8, seconds / 3)
    before = resident_bytes()
    outcome = serving_load.run(server.address, raw, 8, seconds * 2 / 3)
    grown = resident_bytes() - before
  held = set(outcome.codes) == {"OK"} and grown < 0.05 * before
  return {
    "held": held,
    "requests": sum(outcome.codes.values()),
    "resident_megabytes": round(before / 2**20),
    "grown_megabytes": round(grown / 2**20, 1),
  }


def resident_bytes() -> int:
  pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
  return pages * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> int:
  return len(os.listdir("/proc/self/fd"))


def _answers(server: embedded.Server) -> bool:
  with grpc.insecure_channel(server.address) as channel:
    raw = channel.unary_unary(METHOD)(good_request().SerializeToString(), timeout=30)
  return "caption" in predict_pb2.PredictResponse.FromString(raw).outputs


def _run_threads(target, count: int) -> None:
  threads = [threading.Thread(target=target, args=(number,)) for number in range(count)]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()


def main(argv: list[str]) -> int:
  del argv
  cases = {
    "fuzz": lambda base: fuzz(base, flags.FLAGS.requests),
    "junk": lambda base: junk(base, flags.FLAGS.connections),
    "swaps": lambda base: swaps(base, flags.FLAGS.swaps),
    "overload": lambda base: overload(base, flags.FLAGS.seconds),
    "memory": lambda base: memory(base, flags.FLAGS.seconds),
  }
  figures = {}
  with tempfile.TemporaryDirectory() as folder:
    base = tiny_model(pathlib.Path(folder))
    for name in flags.FLAGS.cases:
      if name not in cases:
        raise errors.UserError(f'--cases: unknown case "{name}"; known: {", ".join(cases)}')
      figures[name] = cases[name](base)
      print(f"{'held' if figures[name]['held'] else 'FAILED'}  {name}  {figures[name]}")
  print(json.dumps(figures))
  return 0 if all(figure["held"] for figure in figures.values()) else 1


if __name__ == "__main__":
  flags.DEFINE_list("cases", ["fuzz", "junk", "swaps", "overload", "memory"], "What to run.")
  flags.DEFINE_integer("requests", 100_000, "Damaged requests of fuzz.", 1)
  flags.DEFINE_integer("connections", 10_000, "Connections of junk.", 1)
  flags.DEFINE_integer("swaps", 100, "Versions of swaps.", 1)
  flags.DEFINE_float("seconds", 30.0, "Length of overload and memory.", 0.1)
  errors.run(main)
