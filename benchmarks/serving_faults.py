"""Faults that a server must survive, with the counts of docs/serving.md.

    python -m benchmarks.serving_faults                      # every case, a few minutes
    python -m benchmarks.serving_faults --cases=fuzz --fuzz_bytes=100000000

fuzz      malformed gRPC and REST requests: each gets its expected code
junk      random bytes, partial requests and cut connections on both ports
swaps     new versions under load: no request fails
overload  more requests than fit: each is refused at once or answered
memory    steady load: memory does not grow
kills     kill -9 at random moments of an export: no incomplete version appears

Each case runs a real server in this process and prints one line; the exit code is 0 if
every case held. The tests run the cases with small counts
(tests/benchmarks/test_serving_faults.py).
"""

import http.client
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
from absl import flags
from tensorflow_serving.apis import predict_pb2

from benchmarks.load import bursts, drawn_model, export_kills, malformed
from gcap_tf import errors
from serving import embedded, versions
from serving import limits as limits_lib


def tiny_model(folder: pathlib.Path) -> pathlib.Path:
  """Exports a captioner that answers in a few milliseconds; returns its base path."""
  return drawn_model.export(folder, hidden=16, features=malformed.FEATURES, words=20)


def server_of(base: pathlib.Path, **options) -> embedded.Server:
  model = versions.ModelConfig("captioner", base)
  return embedded.Server(embedded.ServerConfig(models=(model,), poll_seconds=0.1, **options))


def fuzz(base: pathlib.Path, total_bytes: int, workers: int = 4, seed: int = 0) -> dict:
  """Sends `total_bytes` of malformed requests over gRPC and as many over REST."""
  tally = _Tally()
  with server_of(base) as server:

    def grpc_worker(number: int) -> None:
      rng, sent = random.Random(seed * 1000 + number), 0
      with grpc.insecure_channel(server.address) as channel:
        predict = channel.unary_unary(bursts.METHOD)
        while sent < total_bytes / workers:
          if rng.random() < 0.5:
            name, raw, code = malformed.known(rng)
            right = {code}
          else:
            name, raw, right = "wild", malformed.wild(rng), malformed.REFUSALS | {"OK"}
          tally.add(name, _code(predict, raw), right, len(raw))
          sent += max(1, len(raw))

    def rest_worker(number: int) -> None:
      rng, sent = random.Random(seed * 1000 + 500 + number), 0
      connection = http.client.HTTPConnection(server.rest_address, timeout=30)
      while sent < total_bytes / workers:
        path = malformed.REST_PATH
        if rng.random() < 0.5:
          name, path, body, code = malformed.rest_known(rng)
          right = {code}
        else:
          name, body = "wild", malformed.rest_wild(rng)
          right = malformed.REST_REFUSALS | {200}
        tally.add(f"REST {name}", malformed.post(connection, path, body), right, len(body))
        sent += max(1, len(body))
      connection.close()

    _run_threads(grpc_worker, workers)
    with grpc.insecure_channel(server.address, [("grpc.max_send_message_length", -1)]) as channel:
      huge = bytes(server.config.limits.message_bytes + 1)
      code = _code(channel.unary_unary(bursts.METHOD), huge)
      tally.add("larger than a message may be", code, {"RESOURCE_EXHAUSTED"}, 0)
    _run_threads(rest_worker, workers)
    alive = _answers(server)
  return {"held": alive and not tally.wrong, "alive": alive, **tally.figures()}


def junk(base: pathlib.Path, total_bytes: int, seed: int = 0) -> dict:
  """Sends random bytes and partial requests to both ports and cuts the connections."""
  rng, sent, connections = random.Random(seed), 0, 0
  with server_of(base) as server:
    before = _open_files()
    while sent < total_bytes:
      port = (server.port, server.rest_port)[connections % 2]
      with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        start = rng.choice([b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"POST / HTTP/1.1\r\n"])
        raw = start + rng.randbytes(rng.randrange(600))
        connection.sendall(raw)
      sent, connections = sent + max(1, len(raw)), connections + 1
    alive = _answers(server)
    deadline = time.monotonic() + 20
    while _open_files() > before + 8 and time.monotonic() < deadline:
      time.sleep(0.1)
    left = _open_files() - before
  return {
    "held": alive and left <= 8,
    "alive": alive,
    "bytes": sent,
    "connections": connections,
    "files_left_open": left,
  }


def swaps(base: pathlib.Path, requests: int, workers: int = 4) -> dict:
  """Adds new versions under load until `requests` are answered."""
  tally, done = _Tally(), threading.Event()
  stored = base / "1"
  with server_of(base) as server:

    def worker(number: int) -> None:
      with grpc.insecure_channel(server.address) as channel:
        predict = channel.unary_unary(bursts.METHOD)
        raw = malformed.good_request(number).SerializeToString()
        while not done.is_set():
          tally.add("request", _code(predict, raw), {"OK"}, len(raw))

    loaders = [threading.Thread(target=worker, args=(n,)) for n in range(workers)]
    for thread in loaders:
      thread.start()
    number = 1
    while tally.count < requests or number == 1:
      number += 1
      partial = base / f".{number}.partial"
      shutil.copytree(stored, partial)
      partial.rename(base / str(number))
      while server.models.available()["captioner"] != [number]:
        time.sleep(0.01)
      if number > 2:
        shutil.rmtree(base / str(number - 1))
    done.set()
    for thread in loaders:
      thread.join()
  shutil.rmtree(base / str(number))
  return {"held": not tally.wrong, "swaps": number - 1, **tally.figures()}


def overload(base: pathlib.Path, seconds: float, concurrency: int = 64) -> dict:
  """Sends more requests than fit: some are refused at once, the others are answered."""
  few = limits_lib.Limits(in_flight=8)
  raw = malformed.good_request().SerializeToString()
  with server_of(base, limits=few) as server:
    calm = bursts.run(server.address, raw, 8, seconds)
    full = bursts.run(server.address, raw, concurrency, seconds)
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


def memory(base: pathlib.Path, requests: int) -> dict:
  """Measures resident memory over `requests`; after the first tenth it may grow by 2 %."""
  raw = malformed.good_request().SerializeToString()
  megabytes, codes, answered = [], set(), 0
  with server_of(base) as server:
    for _ in range(10):
      outcome = bursts.run(server.address, raw, 8, requests=requests / 10)
      megabytes.append(round(resident_bytes() / 2**20, 1))
      codes |= set(outcome.codes)
      answered += outcome.codes.get("OK", 0)
  return {
    "held": codes == {"OK"} and megabytes[-1] < 1.02 * megabytes[0],
    "requests": answered,
    "resident_megabytes": megabytes,
  }


def resident_bytes() -> int:
  pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
  return pages * os.sysconf("SC_PAGE_SIZE")


class _Tally:
  """Counts outcomes of many threads and keeps the wrong ones."""

  def __init__(self):
    self.count, self.bytes = 0, 0
    self.codes: dict[str, int] = {}
    self.wrong: list[str] = []
    self._lock = threading.Lock()

  def add(self, name: str, code: str | int, right: set, size: int) -> None:
    with self._lock:
      self.count, self.bytes = self.count + 1, self.bytes + size
      self.codes[str(code)] = self.codes.get(str(code), 0) + 1
      if code not in right:
        self.wrong.append(f"{name}: {code}, expected {sorted(right)}")

  def figures(self) -> dict:
    return {
      "requests": self.count,
      "bytes": self.bytes,
      "failed": len(self.wrong),
      "codes": self.codes,
      "first_wrong": self.wrong[:5],
    }


def _code(predict, raw: bytes) -> str:
  try:
    predict(raw, timeout=60)
  except grpc.RpcError as error:
    return error.code().name
  return "OK"


def _open_files() -> int:
  return len(os.listdir("/proc/self/fd"))


def _answers(server: embedded.Server) -> bool:
  with grpc.insecure_channel(server.address) as channel:
    predict = channel.unary_unary(bursts.METHOD)
    raw = predict(malformed.good_request().SerializeToString(), timeout=30)
  return "caption" in predict_pb2.PredictResponse.FromString(raw).outputs


def _run_threads(target, count: int) -> None:
  """Runs threads to their end; raises the first error of a thread."""
  failures = []

  def guarded(number: int) -> None:
    try:
      target(number)
    except BaseException as error:
      failures.append(error)

  threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  if failures:
    raise failures[0]


def main(argv: list[str]) -> int:
  del argv
  cases = {
    "fuzz": lambda base: fuzz(base, flags.FLAGS.fuzz_bytes),
    "junk": lambda base: junk(base, flags.FLAGS.fuzz_bytes),
    "swaps": lambda base: swaps(base, flags.FLAGS.reload_requests),
    "overload": lambda base: overload(base, flags.FLAGS.seconds),
    "memory": lambda base: memory(base, flags.FLAGS.memory_requests),
    "kills": lambda base: export_kills.kills(flags.FLAGS.kills),
  }
  for name in flags.FLAGS.cases:
    if name not in cases:
      raise errors.UserError(f'--cases: unknown case "{name}"; known: {", ".join(cases)}')
  figures = {}
  with tempfile.TemporaryDirectory() as folder:
    base = tiny_model(pathlib.Path(folder))
    for name in flags.FLAGS.cases:
      figures[name] = cases[name](base)
      print(f"{'held' if figures[name]['held'] else 'FAILED'}  {name}  {figures[name]}", flush=True)
  print(json.dumps(figures))
  return 0 if all(figure["held"] for figure in figures.values()) else 1


if __name__ == "__main__":
  flags.DEFINE_list(
    "cases", ["fuzz", "junk", "swaps", "overload", "memory", "kills"], "Cases to run."
  )
  flags.DEFINE_integer("fuzz_bytes", 1_000_000, "Bytes of fuzz over each protocol, and of junk.", 1)
  flags.DEFINE_integer("reload_requests", 5000, "Requests of swaps.", 1)
  flags.DEFINE_integer("memory_requests", 20_000, "Requests of memory.", 10)
  flags.DEFINE_integer("kills", 20, "Exports to kill.", 1)
  flags.DEFINE_float("seconds", 10.0, "Seconds of each half of overload.", 0.1)
  errors.run(main)
