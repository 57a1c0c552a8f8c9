"""Tests of serving/front/bodies.py."""

import email.message
import gzip
import http.client
import io

import grpc
import pytest

from serving import status
from serving.front import bodies


def headers(*pairs):
  made = email.message.Message()
  for name, value in pairs:
    made[name] = value
  return made


def test_a_length_is_read_from_the_headers():
  assert bodies.length(headers(("Content-Length", "12")), 12) == 12
  assert bodies.length(headers(("Content-Length", "0"), ("Content-Encoding", "GZIP")), 12) == 0


@pytest.mark.parametrize(
  ("pairs", "code"),
  [
    ([], grpc.StatusCode.INVALID_ARGUMENT),
    ([("Content-Length", "-1")], grpc.StatusCode.INVALID_ARGUMENT),
    ([("Content-Length", "1_0")], grpc.StatusCode.INVALID_ARGUMENT),
    ([("Content-Length", "\u0663")], grpc.StatusCode.INVALID_ARGUMENT),
    ([("Content-Length", "3"), ("Content-Length", "3")], grpc.StatusCode.INVALID_ARGUMENT),
    ([("Content-Length", "3"), ("Transfer-Encoding", "x")], grpc.StatusCode.INVALID_ARGUMENT),
    ([("Content-Length", "3"), ("Content-Encoding", "br")], grpc.StatusCode.INVALID_ARGUMENT),
    ([("Content-Length", "13")], grpc.StatusCode.RESOURCE_EXHAUSTED),
    ([("Content-Length", "9" * 5000)], grpc.StatusCode.RESOURCE_EXHAUSTED),
  ],
)
def test_a_length_that_is_unknown_or_too_large_is_refused(pairs, code):
  with pytest.raises(status.ServingError) as raised:
    bodies.length(headers(*pairs), 12)
  assert raised.value.code == code


def test_gzip_is_unpacked_up_to_the_limit():
  packed = gzip.compress(b"x" * 100)
  assert bodies.unpack(packed, 100) == b"x" * 100
  with pytest.raises(status.ServingError, match="larger than 99 bytes"):
    bodies.unpack(packed, 99)
  for damaged in (b"", b"x", packed[:-1], packed + b"x", packed + packed):
    with pytest.raises(status.ServingError, match="gzip"):
      bodies.unpack(damaged, 100)


def test_a_head_has_a_limit_and_every_request_its_own():
  line = b"a" * 1023 + b"\n"
  stream = bodies.HeadReader(io.BytesIO(line * 130))
  for _ in range(2):
    stream.begin()
    for _ in range(bodies.HEAD_BYTES // 1024):
      assert stream.readline(65537) == line
  with pytest.raises(http.client.LineTooLong):
    stream.readline(65537)
