"""Tests of serving/front/rest_server.py."""

import contextlib
import socket
import time

import pytest

from serving import limits
from serving.front import connections
from serving.front import tls as tls_lib
from tests.serving import certificates, harness, tiny_models


@pytest.fixture(name="base", scope="module")
def saved_model(tmp_path_factory):
  folder = tmp_path_factory.mktemp("captioner")
  tiny_models.save(folder, 1)
  return folder


def half_sent(address: str, count: int, stack: contextlib.ExitStack, sent: bytes) -> None:
  """Opens connections that send the beginning of a request and no more."""
  host, port = address.split(":")
  for _ in range(count):
    connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=20))
    with contextlib.suppress(OSError):
      connection.sendall(sent)


@pytest.mark.parametrize(
  "sent",
  [
    b"",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n",
    b"POST /v1/models/captioner:predict HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{",
  ],
)
def test_three_hundred_half_sent_requests_shut_nobody_out(base, sent):
  with harness.serving(base) as server, contextlib.ExitStack() as stack:
    caller = harness.Caller(server)
    stack.callback(caller.close)
    half_sent(server.rest_address, 300, stack, sent)
    half_sent(server.address, 300, stack, b"PRI * HTTP/2.0\r\n")
    for _ in range(5):
      start = time.monotonic()
      assert caller.raw("/healthz")[0] == 200
      assert caller.rest("/v1/models/captioner")[0] == 200
      inputs = tiny_models.request(1, 3)
      harness.check_answer(inputs, caller.predict(inputs), 1)
      assert time.monotonic() - start < connections.WAIT_SECONDS / 2
    assert len(server._rest.open_connections) <= server.config.limits.connections


def test_half_sent_tls_handshakes_shut_nobody_out(base, tmp_path):
  certificate, key = certificates.make(tmp_path)
  few = limits.Limits(connections=8)
  with (
    harness.serving(base, tls=tls_lib.Tls(certificate, key), limits=few) as server,
    contextlib.ExitStack() as stack,
  ):
    half_sent(server.rest_address, 30, stack, b"\x16\x03\x01")
    harness.wait_until(lambda: len(server._rest.open_connections) <= 8)
    trust = tls_lib.ssl.create_default_context(cafile=certificate)
    host, port = server.rest_address.split(":")
    plain = stack.enter_context(socket.create_connection((host, int(port)), timeout=20))
    secure = trust.wrap_socket(plain, server_hostname=host)
    secure.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert secure.recv(4096).startswith(b"HTTP/1.1 200")
    secure.close()


def test_a_server_whose_connections_are_all_answered_refuses_with_503(base):
  few = limits.Limits(connections=1)
  with harness.serving(base, limits=few) as server, contextlib.ExitStack() as stack:
    kept = server._rest.open_connections
    first = socket.socketpair()
    for end in first:
      stack.enter_context(end)
    kept.add(first[0])
    kept.set(first[0], "answering")
    host, port = server.rest_address.split(":")
    second = stack.enter_context(socket.create_connection((host, int(port)), timeout=20))
    assert second.recv(4096).startswith(b"HTTP/1.1 503")
    kept.remove(first[0])
    caller = harness.Caller(server)
    assert caller.raw("/healthz")[0] == 200
    caller.close()


def test_closed_connections_leave_no_place_taken(base):
  with harness.serving(base) as server:
    host, port = server.rest_address.split(":")
    for _ in range(50):
      socket.create_connection((host, int(port)), timeout=20).close()
    harness.wait_until(lambda: len(server._rest.open_connections) == 0)


def test_no_part_of_an_answer_waits_until_the_client_confirms_another(base):
  with harness.serving(base) as server, contextlib.ExitStack() as stack:
    host, port = server.rest_address.split(":")
    client = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert client.recv(4096).startswith(b"HTTP/1.1 200")
    (accepted,) = server._rest.open_connections._states
    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
