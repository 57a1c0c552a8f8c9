"""Ensembles: the mean of several models' similarity matrices.

Papers report them as one model: "SCAN t-i + i-t", PFAN (t2i and i2t), BFAN (equal and
prob), SGRAF (SGR and SAF). Members share no weights and are trained separately.
"""

from collections.abc import Sequence

import numpy as np

from gcap_tf import errors


def mean_similarity(matrices: Sequence[np.ndarray]) -> np.ndarray:
  """The mean of similarity matrices [I, C] over the same pictures and captions."""
  return _mean(matrices, "similarity matrices")


def mean_attention(maps: Sequence[np.ndarray]) -> np.ndarray:
  """The mean of attention maps [B, T, R]; rows still sum to 1."""
  return _mean(maps, "attention maps")


def _mean(arrays: Sequence[np.ndarray], what: str) -> np.ndarray:
  if not arrays:
    raise errors.UserError("an ensemble needs at least one member")
  shapes = [array.shape for array in arrays]
  if len(set(shapes)) > 1:
    raise errors.UserError(
      f"{what} of an ensemble have shapes {', '.join(map(str, shapes))}; "
      "all members must score the same pictures and captions"
    )
  return np.mean(np.stack(arrays), 0)
