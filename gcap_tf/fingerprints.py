"""Short hashes that name what a cache or a store was made from."""

import hashlib
from collections.abc import Iterable

import numpy as np


def of(*parts: str | bytes | Iterable[np.ndarray]) -> str:
  """16 hexadecimal digits of a hash of texts and of lists of weights, in order."""
  digest = hashlib.sha256()
  for part in parts:
    if isinstance(part, str | bytes):
      digest.update(part.encode() if isinstance(part, str) else part)
    else:
      for weight in part:
        digest.update(np.ascontiguousarray(weight).tobytes())
  return digest.hexdigest()[:16]
