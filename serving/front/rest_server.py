"""Accepts the connections of the REST server, and stops after their requests.

`serving/rest.py` answers the requests; `serving/front/connections.py` decides which connection
gives way if there are too many.
"""

import contextlib
import http.server
import socket
import ssl
import threading
from typing import Any

from absl import logging

from serving import predict, rest, static
from serving.front import connections

_TLS_CLOSE_SECONDS = 1.0  # for the client to confirm that it closes TLS
_FULL = (
  b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
  b"Content-Length: 0\r\n\r\n"
)


class RestServer(http.server.ThreadingHTTPServer):
  """An HTTP/1.1 server with one thread per connection and a limit on connections."""

  daemon_threads = True
  block_on_close = False
  request_queue_size = 128

  def __init__(
    self,
    address: tuple[str, int],
    predictor: predict.Predictor,
    files: static.StaticFiles,
    options: rest.RestOptions | None = None,
  ):
    self.predictor, self.files = predictor, files
    self.options = options or rest.RestOptions()
    self.open_connections = connections.Connections(predictor.limits.connections)
    self._busy = 0
    self._idle = threading.Condition()
    self.draining = self._drained = False
    if ":" in address[0]:
      self.address_family = socket.AF_INET6
    super().__init__(address, rest.Handler)

  @property
  def port(self) -> int:
    return self.server_address[1]

  def service_actions(self) -> None:
    """Called a few times a second."""
    self.open_connections.close_slow()

  def process_request(self, request: socket.socket, client_address: Any) -> None:
    request.settimeout(connections.RECEIVE_SECONDS)
    if not self.open_connections.add(request):
      self.predictor.metrics.refused.add("connections")
      with contextlib.suppress(OSError):
        request.settimeout(0)
        request.send(_FULL)
      self.shutdown_request(request)
      return
    try:
      super().process_request(request, client_address)
    except RuntimeError:  # no more threads
      self.open_connections.remove(request)
      self.shutdown_request(request)

  def process_request_thread(self, request: socket.socket, client_address: Any) -> None:
    plain = request
    try:
      if self.options.tls is not None:  # in this thread: a slow handshake blocks no others
        request = self.options.tls.wrap_socket(
          request, server_side=True, do_handshake_on_connect=False
        )
        self.open_connections.replace(plain, request)
        request.do_handshake()
      super().process_request_thread(request, client_address)
    except OSError:
      self.shutdown_request(request)
    finally:
      self.open_connections.remove(request)
      self.open_connections.remove(plain)

  def shutdown_request(self, request: socket.socket) -> None:
    """Ends a connection; closes TLS properly, so that no answer looks truncated."""
    if isinstance(request, ssl.SSLSocket):
      with contextlib.suppress(OSError, ValueError):  # the client may be gone already
        request.settimeout(_TLS_CLOSE_SECONDS)
        request.unwrap()
    super().shutdown_request(request)

  def handle_error(self, request: socket.socket, client_address: Any) -> None:
    logging.log_every_n(logging.INFO, "A REST connection broke off", 100)

  def drain(self, seconds: float) -> None:
    """Accepts no new connection and waits until the current requests are answered."""
    self.draining = True
    self.shutdown()
    with self._idle:
      self._idle.wait_for(lambda: self._busy == 0, timeout=seconds)
      self._drained = True
    self.server_close()

  def begin(self) -> bool:
    """Counts a request that begins; returns False if the server has stopped."""
    with self._idle:
      self._busy += 1
      return not self._drained

  def end(self) -> None:
    """Counts a request that ended."""
    with self._idle:
      self._busy -= 1
      self._idle.notify_all()
