"""Tests of serving/front/connections.py."""

import socket

import pytest

from serving.front import connections


@pytest.fixture(name="pairs")
def socket_pairs():
  made = [socket.socketpair() for _ in range(4)]
  yield made
  for pair in made:
    for end in pair:
      end.close()


def is_ended(pair) -> bool:
  pair[1].setblocking(False)
  try:
    return pair[1].recv(1) == b""
  except BlockingIOError:
    return False


def test_the_connection_that_has_waited_longest_gives_way(pairs):
  kept = connections.Connections(2)
  assert kept.add(pairs[0][0]) and kept.add(pairs[1][0])
  kept.set(pairs[0][0], connections.RECEIVING)  # Later than the other one.
  assert kept.add(pairs[2][0])
  assert [is_ended(pair) for pair in pairs[:3]] == [False, True, False]
  assert len(kept) == 2


def test_connections_that_are_answered_stay_and_new_ones_are_refused(pairs):
  kept = connections.Connections(2)
  for pair in pairs[:2]:
    kept.add(pair[0])
    kept.set(pair[0], connections.ANSWERING)
  assert not kept.add(pairs[2][0])
  assert not any(is_ended(pair) for pair in pairs[:2])
  kept.remove(pairs[0][0])
  assert kept.add(pairs[2][0])


def test_a_connection_that_takes_too_long_in_total_is_closed(pairs, monkeypatch):
  kept = connections.Connections(4)
  for pair in pairs[:3]:
    kept.add(pair[0])
  kept.set(pairs[1][0], connections.RECEIVING)
  kept.set(pairs[2][0], connections.ANSWERING)
  kept.close_slow()
  assert not any(is_ended(pair) for pair in pairs[:3])
  monkeypatch.setitem(connections._ALLOWED, connections.WAITING, -1.0)
  kept.close_slow()
  assert [is_ended(pair) for pair in pairs[:3]] == [True, False, False]
  monkeypatch.setitem(connections._ALLOWED, connections.RECEIVING, -1.0)
  kept.close_slow()
  assert [is_ended(pair) for pair in pairs[1:3]] == [True, False]


def test_a_connection_keeps_its_place_under_tls_unless_it_gave_way(pairs):
  kept = connections.Connections(1)
  kept.add(pairs[0][0])
  kept.replace(pairs[0][0], pairs[1][0])
  assert len(kept) == 1
  assert kept.add(pairs[2][0]) and is_ended(pairs[1])
  with pytest.raises(ConnectionAbortedError):
    kept.replace(pairs[1][0], pairs[3][0])
