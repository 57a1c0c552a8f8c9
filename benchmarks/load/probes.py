"""What fault benchmarks share: a server with a tiny model, tallies of codes, memory and files."""

import os
import pathlib
import threading
import time
from collections.abc import Callable

import grpc
from tensorflow_serving.apis import predict_pb2

from benchmarks.load import bursts, drawn_model, malformed
from serving import embedded, versions


class Tally:
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
        self.wrong.append(f"{name}: {code}, expected {sorted(map(str, right))}")

  def figures(self) -> dict:
    return {
      "requests": self.count,
      "bytes": self.bytes,
      "failed": len(self.wrong),
      "codes": self.codes,
      "first_wrong": self.wrong[:5],
    }


def tiny_model(folder: pathlib.Path) -> pathlib.Path:
  """Exports a captioner that answers in a few milliseconds; returns its base path."""
  return drawn_model.export(folder, hidden=16, features=malformed.FEATURES, words=20)


def server_of(base: pathlib.Path, name: str = "captioner", **options) -> embedded.Server:
  model = versions.ModelConfig(name, base)
  return embedded.Server(embedded.ServerConfig(models=(model,), poll_seconds=0.1, **options))


def code(predict, raw: bytes) -> str:
  """The gRPC code of a request."""
  try:
    predict(raw, timeout=60)
  except grpc.RpcError as error:
    return error.code().name
  return "OK"


def answers(server: embedded.Server) -> bool:
  """Whether the server captions a valid request."""
  with grpc.insecure_channel(server.address) as channel:
    predict = channel.unary_unary(bursts.METHOD)
    raw = predict(malformed.good_request().SerializeToString(), timeout=60)
  return "caption" in predict_pb2.PredictResponse.FromString(raw).outputs


def open_files() -> int:
  return len(os.listdir("/proc/self/fd"))


def files_left(before: int, spare: int = 8, seconds: float = 60.0) -> int:
  """Descriptors beyond those of `before`, after waiting until at most `spare` are left."""
  wait_until(lambda: open_files() <= before + spare, seconds)
  return open_files() - before


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
  """Returns when `holds()` is true, or after so many seconds."""
  deadline = time.monotonic() + seconds
  while not holds() and time.monotonic() < deadline:
    time.sleep(0.1)


def resident_bytes() -> int:
  pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
  return pages * os.sysconf("SC_PAGE_SIZE")


def megabytes() -> float:
  return round(resident_bytes() / 2**20, 1)


def run_threads(target, count: int) -> None:
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
