"""Folds of pictures for cross-fitted labels.

A detector is far surer of pictures it was trained on. So the training pictures are cut into
folds, one detector is trained without each fold, and it alone labels the pictures of that fold.
"""

import hashlib

FOLDS = 4


def fold(image_id: str, folds: int = FOLDS) -> int:
  """The fold of a picture, from 0 to `folds` - 1: sha256(image_id) mod folds.

  It depends on the id alone, so that training and extraction agree without a list.
  """
  digest = hashlib.sha256(image_id.encode("utf-8")).digest()
  return int.from_bytes(digest[:8], "big") % folds
