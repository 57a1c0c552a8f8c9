"""Malformed HTTP heads, deep JSON and slow senders on the REST port, with their expected codes."""

import pathlib
import random
import socket
import threading
import time
from collections.abc import Callable

from benchmarks.load import malformed, probes

_SLOW = 40  # senders at once
_HEALTHY_SECONDS = 20.0  # for an honest caller meanwhile; the slow ones stay for 60


def send(base: pathlib.Path, count: int, seed: int = 0) -> dict:
  """Sends `count` malformed heads, while slow senders hold connections."""
  tally, rng, done = probes.Tally(), random.Random(seed), threading.Event()
  slowest = 0.0
  with probes.server_of(base) as server:
    slow = threading.Thread(target=_send_slowly, args=(server.rest_port, done))
    slow.start()
    try:
      for _ in range(count):
        name = rng.choice(list(CASES))
        make, right = CASES[name]
        data = make(rng)
        tally.add(name, _status(server.rest_port, data), right, len(data))
        started = time.monotonic()
        tally.add("healthz", _status(server.rest_port, _get("/healthz")), {200}, 0)
        slowest = max(slowest, time.monotonic() - started)
    finally:
      done.set()
      slow.join()
    alive = probes.answers(server)
  return {
    "held": alive and not tally.wrong and slowest < _HEALTHY_SECONDS,
    "slow_senders": _SLOW,
    "slowest_healthz_seconds": round(slowest, 3),
    **tally.figures(),
  }


def _status(port: int, data: bytes) -> int:
  """The status of the answer to raw bytes; 0 if the server closed without one."""
  received = b""
  with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
    try:
      connection.sendall(data)
      connection.shutdown(socket.SHUT_WR)
      while b"\r\n" not in received and (part := connection.recv(4096)):
        received += part
    except (ConnectionError, BrokenPipeError):
      pass  # It has answered and closed before it read everything.
  words = received.split(b" ", 2)
  return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def _send_slowly(port: int, done: threading.Event) -> None:
  """Holds connections that send a byte of a valid request now and then."""
  connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(_SLOW)]
  for byte in _get("/healthz")[:-2] * 100:
    if done.wait(0.2):
      break
    for connection in connections:
      try:
        connection.send(bytes([byte]))
      except OSError:
        continue
  for connection in connections:
    connection.close()


def _get(path: str, *headers: str) -> bytes:
  return "\r\n".join(
    [f"GET {path} HTTP/1.1", "Host: x", "Connection: close", *headers, "", ""]
  ).encode()


def _post(body: bytes, *headers: str) -> bytes:
  lines = [f"POST {malformed.REST_PATH} HTTP/1.1", "Host: x", "Connection: close", *headers]
  return "\r\n".join([*lines, "", ""]).encode() + body


def _sized(body: bytes) -> bytes:
  return _post(body, f"Content-Length: {len(body)}")


def _deep(rng: random.Random) -> bytes:
  depth = rng.randrange(17, 20_000)
  opening = rng.choice(["[", '{"a":'])
  return _sized((opening * depth).encode())


def _huge_length(rng: random.Random) -> bytes:
  return _post(b"{}", f"Content-Length: {10 ** rng.randrange(9, 30)}")


# Name -> request of it, and the statuses that are right; 0 is a closed connection.
CASES: dict[str, tuple[Callable[[random.Random], bytes], set[int]]] = {
  "one huge header": (
    lambda rng: _get("/healthz", "X: " + "a" * rng.randrange(66_000, 300_000)),
    {431, 0},
  ),
  "many headers": (
    lambda rng: _get("/healthz", *(f"X{n}: 1" for n in range(rng.randrange(101, 5000)))),
    {431, 0},
  ),
  "long request line": (lambda rng: _get("/" + "a" * rng.randrange(66_000, 200_000)), {414, 0}),
  "no version": (lambda rng: b"GET\r\n\r\n", {400}),
  "unknown method": (lambda rng: b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", {501, 405}),
  "unknown version": (lambda rng: b"GET / HTTP/9.9\r\n\r\n", {505, 400}),
  "no length": (lambda rng: _post(b"{}"), {400, 411}),
  "two lengths": (lambda rng: _post(b"{}", "Content-Length: 2", "Content-Length: 3"), {400}),
  "negative length": (lambda rng: _post(b"{}", f"Content-Length: -{rng.randrange(1, 99)}"), {400}),
  "huge length": (_huge_length, {413, 429, 400}),
  "chunked": (lambda rng: _post(b"2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), {400}),
  "unknown encoding": (
    lambda rng: _post(b"{}", "Content-Length: 2", "Content-Encoding: br"),
    {400},
  ),
  "damaged gzip": (
    lambda rng: _post(b"\x1f\x8bxx", "Content-Length: 4", "Content-Encoding: gzip"),
    {400},
  ),
  "deep JSON": (_deep, {400}),
  "random bytes as JSON": (lambda rng: _sized(rng.randbytes(rng.randrange(1, 500))), {400}),
}
