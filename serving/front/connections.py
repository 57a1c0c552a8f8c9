"""The open connections of the REST server, and which of them must give way.

A connection waits for a request, receives one, or is being answered. A client that opens many
connections and sends half a request on each would shut out everybody else. So:

- if all places are taken, a new connection takes that of the one that has waited or received for
  the longest; connections that are being answered stay
- a connection that waits or receives for too long in total is closed, however it spreads its bytes
"""

import collections
import contextlib
import socket
import threading
import time

WAIT_SECONDS = 60.0  # from connecting, or from the last answer, to the end of the next head
RECEIVE_SECONDS = 300.0  # for the body of a request
WAITING, RECEIVING, ANSWERING = "waiting", "receiving", "answering"
_ALLOWED = {WAITING: WAIT_SECONDS, RECEIVING: RECEIVE_SECONDS}


class Connections:
  """The connections of a server, each with its state and since when."""

  def __init__(self, most: int):
    self.most = most
    self._lock = threading.Lock()
    # The connection whose state is the oldest comes first.
    self._states: collections.OrderedDict[socket.socket, tuple[str, float]]
    self._states = collections.OrderedDict()

  def __len__(self) -> int:
    with self._lock:
      return len(self._states)

  def add(self, connection: socket.socket) -> bool:
    """Takes a new connection; False if all places are taken by connections being answered."""
    with self._lock:
      if len(self._states) >= self.most and not self._make_room():
        return False
      self._states[connection] = (WAITING, time.monotonic())
      return True

  def set(self, connection: socket.socket, state: str) -> None:
    """Notes what a connection does now."""
    with self._lock:
      if connection in self._states:
        self._states[connection] = (state, time.monotonic())
        self._states.move_to_end(connection)

  def replace(self, connection: socket.socket, secured: socket.socket) -> None:
    """The same connection under TLS, which has a socket of its own."""
    with self._lock:
      if connection not in self._states:
        raise ConnectionAbortedError("the connection gave way to another one")
      state = self._states.pop(connection)
      self._states[secured] = state
      self._states.move_to_end(secured, last=False)

  def remove(self, connection: socket.socket) -> None:
    with self._lock:
      self._states.pop(connection, None)

  def close_slow(self) -> None:
    """Closes the connections that wait or receive for too long."""
    now = time.monotonic()
    with self._lock:
      slow = [
        connection
        for connection, (state, since) in self._states.items()
        if state in _ALLOWED and now - since > _ALLOWED[state]
      ]
      for connection in slow:
        self._end(connection)

  def _make_room(self) -> bool:
    for connection, (state, _) in self._states.items():
      if state != ANSWERING:
        self._end(connection)
        return True
    return False

  def _end(self, connection: socket.socket) -> None:
    """Ends a connection; its thread sees the end of the stream and closes it."""
    del self._states[connection]
    with contextlib.suppress(OSError):
      connection.shutdown(socket.SHUT_RDWR)
