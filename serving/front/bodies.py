"""Reads the head and the body of an HTTP request, within limits.

A body has a Content-Length and may be compressed with gzip; what it unpacks to counts for the
limit, too, and no more than that is unpacked.
"""

import http.client
import io
import zlib
from collections.abc import Mapping

import grpc

from serving import status

HEAD_BYTES = 64 << 10  # request line and headers together
_GZIP = 16 + zlib.MAX_WBITS


class HeadReader:
  """A stream that gives each request a head of at most HEAD_BYTES.

  Raises `http.client.LineTooLong` for headers beyond that, which the handler answers with 431. It
  answers a request line that is too long by itself, with 414.
  """

  def __init__(self, stream: io.BufferedIOBase):
    self._stream = stream
    self.begin()

  def begin(self) -> None:
    """A new request begins."""
    self._left, self._is_first = HEAD_BYTES, True

  def readline(self, limit: int) -> bytes:
    line = self._stream.readline(min(limit, max(self._left, 0) + 1))
    self._left -= len(line)
    if self._left < 0 and not self._is_first:
      raise http.client.LineTooLong("head")
    self._is_first = False
    return line

  def read(self, size: int = -1) -> bytes:
    return self._stream.read(size)

  def close(self) -> None:
    self._stream.close()

  @property
  def closed(self) -> bool:
    return self._stream.closed


def length(headers: Mapping[str, str], limit: int) -> int:
  """The bytes of a body, from the headers; an error if they cannot be known or are too many."""
  lengths = headers.get_all("Content-Length", []) if hasattr(headers, "get_all") else []
  sent = lengths[0] if len(lengths) == 1 else ""
  if headers.get("Transfer-Encoding") or not (sent.isascii() and sent.isdigit()):
    raise status.invalid("send the body with a Content-Length")
  if encoding(headers) not in ("identity", "gzip"):
    raise status.invalid("send the body without Content-Encoding, or as gzip")
  if len(sent) > 18 or int(sent) > limit:
    raise _too_large(limit)
  return int(sent)


def encoding(headers: Mapping[str, str]) -> str:
  """The Content-Encoding, "identity" if there is none."""
  return headers.get("Content-Encoding", "").strip().lower() or "identity"


def unpack(body: bytes, limit: int) -> bytes:
  """A body that was sent as gzip; an error if it is damaged or unpacks to more than the limit."""
  unpacker = zlib.decompressobj(_GZIP)
  try:
    found = unpacker.decompress(body, limit + 1)
  except zlib.error as error:
    raise status.invalid(f"the body is not gzip ({error})") from None
  if len(found) > limit:
    raise _too_large(limit)
  if not unpacker.eof or unpacker.unused_data:
    raise status.invalid("the body is not one whole gzip stream")
  return found


def _too_large(limit: int) -> status.ServingError:
  return status.ServingError(
    grpc.StatusCode.RESOURCE_EXHAUSTED, f"the body is larger than {limit} bytes"
  )
