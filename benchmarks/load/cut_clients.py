"""Clients that vanish mid-request, on both ports: nothing of theirs may stay in the server."""

import json
import pathlib
import random
import socket
import struct
import threading
import time

import grpc

from benchmarks.load import bursts, malformed, probes

_WARM_UP = 100
_MOST_GROWTH = 16.0  # megabytes; a descriptor, thread or request that stays costs more in 10,000
_MOST_TIMES = 5
_SPARE = 8
_NO_LINGER = struct.pack("ii", 1, 0)  # Closing sends RST at once.


def cut(base: pathlib.Path, count: int, seed: int = 0) -> dict:
  """Cuts `count` clients; compares descriptors, threads and memory with those before.

  As long as memory grows, as many clients are cut again, up to five times: what is left of clients
  grows each time, what a process takes once does not.
  """
  body = json.dumps(malformed.rest_body()).encode()
  raw = malformed.good_request().SerializeToString()
  ways = {}
  with probes.server_of(base) as server:

    def waiting() -> int:
      return sum(server.models.waiting().values())

    _cut_all(server, raw, body, random.Random(seed), _WARM_UP, {})
    probes.files_left(probes.open_files(), seconds=1.0)
    files, threads = probes.open_files(), threading.active_count()
    megabytes = [probes.megabytes()]
    for number in range(_MOST_TIMES):
      _cut_all(server, raw, body, random.Random(seed + 1 + number), count, ways)
      left = probes.files_left(files, _SPARE)
      probes.wait_until(lambda: threading.active_count() <= threads + _SPARE and not waiting())
      more_threads, still_waiting = threading.active_count() - threads, waiting()
      megabytes.append(probes.megabytes())
      if _growth(megabytes) < _MOST_GROWTH:
        break
    alive = probes.answers(server)
  held = alive and left <= _SPARE and more_threads <= _SPARE and not still_waiting
  return {
    "held": held and _growth(megabytes) < _MOST_GROWTH,
    "cut": sum(ways.values()),
    "ways": ways,
    "files_left_open": left,
    "threads_left": more_threads,
    "requests_left_waiting": still_waiting,
    "alive": alive,
    "megabytes": megabytes,
  }


def _growth(megabytes: list[float]) -> float:
  return megabytes[-1] - megabytes[-2]


def _cut_all(server, raw, body, rng, count: int, ways: dict[str, int]) -> None:
  for _ in range(count):
    way = rng.choice(_WAYS)
    way(server, raw, body, rng)
    ways[way.__name__.strip("_")] = ways.get(way.__name__.strip("_"), 0) + 1


def _cancelled_call(server, raw, body, rng) -> None:
  """A gRPC call that is cancelled while it runs."""
  del body
  with grpc.insecure_channel(server.address) as channel:
    call = channel.unary_unary(bursts.METHOD).future(raw, timeout=60)
    time.sleep(rng.uniform(0, 0.005))
    call.cancel()


def _short_deadline(server, raw, body, rng) -> None:
  """A gRPC call whose deadline passes while it runs."""
  del body
  with grpc.insecure_channel(server.address) as channel:
    probes.code(lambda sent, timeout: _call(channel, sent, rng), raw)


def _call(channel, raw: bytes, rng) -> bytes:
  return channel.unary_unary(bursts.METHOD)(raw, timeout=rng.uniform(0.0005, 0.005))


def _half_head(server, raw, body, rng) -> None:
  del raw
  head = _head(body)
  _send(server, head[: rng.randrange(1, len(head))], rng)


def _half_body(server, raw, body, rng) -> None:
  del raw
  _send(server, _head(body) + body[: rng.randrange(len(body))], rng)


def _no_reader(server, raw, body, rng) -> None:
  """A whole request whose client does not wait for the answer."""
  del raw
  _send(server, _head(body) + body, rng)


def _half_reader(server, raw, body, rng) -> None:
  """A client that reads the first bytes of its answer."""
  del raw
  _send(server, _head(body) + body, rng, read=rng.randrange(1, 64))


_WAYS = (_cancelled_call, _short_deadline, _half_head, _half_body, _no_reader, _half_reader)


def _head(body: bytes) -> bytes:
  return (
    f"POST {malformed.REST_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
  ).encode()


def _send(server, data: bytes, rng, read: int = 0) -> None:
  """Sends bytes and closes, with FIN or RST."""
  with socket.create_connection(("127.0.0.1", server.rest_port), timeout=30) as connection:
    connection.sendall(data)
    if read:
      connection.recv(read)
    if rng.random() < 0.5:
      connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
