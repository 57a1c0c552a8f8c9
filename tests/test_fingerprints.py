import numpy as np

from gcap_tf import fingerprints


def test_a_fingerprint_is_the_hash_of_its_parts_in_order():
  weights = [np.arange(3, dtype=np.float32), np.zeros([2, 2])]
  named = fingerprints.of("one", weights, b"two")
  assert len(named) == 16 and named == fingerprints.of("one", weights, b"two")
  assert named != fingerprints.of("two", weights, b"one")
  assert named != fingerprints.of("one", weights[::-1], b"two")


def test_weights_count_by_what_they_hold_not_by_how_they_lie_in_memory():
  square = np.arange(6.0).reshape(2, 3)
  assert fingerprints.of([square]) == fingerprints.of([square.T.copy().T])
