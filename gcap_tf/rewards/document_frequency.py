"""Document frequencies of CIDEr-D (Vedantam et al., CVPR 2015, arXiv:1411.5726).

The document frequency of an n-gram is the number of training pictures whose captions contain
it. It must come from the captions and the vocabulary of the captioner's training: frequencies
of another vocabulary give a meaningless reward without any error. A saved file therefore
contains the vocabulary's fingerprint.
"""

import collections
import dataclasses
import functools
import pickle
import zipfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gcap_tf import errors, files
from gcap_tf.rewards import ngrams


@dataclasses.dataclass(frozen=True)
class DocumentFrequency:
  """A sorted table of n-grams.

  Attributes:
    keys: [U] uint64 n-gram keys, ascending.
    counts: [U] number of pictures that have the n-gram.
    images: number of pictures.
  """

  keys: np.ndarray
  counts: np.ndarray
  images: float

  @functools.cached_property
  def idf(self) -> np.ndarray:
    """ln(images) - ln(max(1, df)) of each n-gram in the table."""
    return self.unseen_idf - np.log(np.maximum(self.counts, 1.0))

  @property
  def unseen_idf(self) -> float:
    """idf of an n-gram that no picture has; it counts as if one picture had it."""
    return float(np.log(float(self.images)))

  def of(self, keys: np.ndarray) -> np.ndarray:
    """idf of any n-grams: [N]."""
    if not len(self.keys):
      return np.full(len(keys), self.unseen_idf)
    place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
    return np.where(self.keys[place] == keys, self.idf[place], self.unseen_idf)

  @classmethod
  def from_captions(
    cls, pictures: Iterable[ngrams.Sentences], include_end: bool = True
  ) -> "DocumentFrequency":
    """Counts over pictures, each with its captions.

    Args:
      pictures: the captions of each picture, not truncated; see `ngrams.flatten`.
      include_end: as in `ngrams.flatten`.
    """
    found, images = [], 0
    for captions in pictures:
      images += 1
      found.append(np.unique(ngrams.extract(*ngrams.flatten(captions, include_end))[1]))
    if not images:
      raise errors.UserError("document frequencies need at least one picture with captions")
    keys, counts = np.unique(np.concatenate(found), return_counts=True)
    return cls(keys, counts.astype(np.float64), images)

  def save(self, path: files.PathLike, fingerprint: str) -> None:
    """Writes an .npz file with the fingerprint of the vocabulary."""
    with files.atomic_path(path) as partial, open(partial, "wb") as file:
      np.savez_compressed(
        file, keys=self.keys, counts=self.counts, images=self.images, fingerprint=fingerprint
      )

  @classmethod
  def load(cls, path: files.PathLike, fingerprint: str) -> "DocumentFrequency":
    """Reads a file of `save`; a file of another vocabulary is a `UserError`."""
    try:
      with np.load(path, allow_pickle=False) as saved:
        stamp = str(saved["fingerprint"])
        table = cls(saved["keys"], saved["counts"], float(saved["images"]))
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
      raise errors.UserError(f"document frequencies {path} are damaged ({error})") from None
    if stamp != fingerprint:
      raise errors.UserError(
        f"document frequencies {path} belong to vocabulary {stamp}, the run has {fingerprint}; "
        "compute them from the run's own captions"
      )
    return table


def read_pickle(
  path: files.PathLike, word_id: Callable[[str], int] | None = None
) -> DocumentFrequency:
  """Reads the usual `*-idxs.p`: {"document_frequency": {("12", "7"): 3.0}, "ref_len": n}.

  Args:
    path: the pickle; only plain values are unpickled.
    word_id: gives the id of a word, for `*-words.p`, whose n-grams are words.
  """
  with open(path, "rb") as file:
    try:
      value = _PlainUnpickler(file, encoding="latin-1").load()
      table, images = value["document_frequency"], float(value["ref_len"])
      return _from_table(table, images, word_id)
    except errors.UserError as error:
      raise errors.UserError(f"document frequencies {path}: {error}") from None
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError) as e:
      raise errors.UserError(
        f"document frequencies {path}: not a table of n-gram counts ({type(e).__name__}: {e})"
      ) from None


def _from_table(
  table: Mapping[tuple[str, ...], float], images: float, word_id: Callable[[str], int] | None
) -> DocumentFrequency:
  word_id = word_id or int
  keys = np.fromiter(
    (ngrams.pack(_checked_id(word_id(str(token))) for token in gram) for gram in table),
    np.uint64,
    len(table),
  )
  counts = np.fromiter(table.values(), np.float64, len(table))
  order = np.argsort(keys)
  return DocumentFrequency(keys[order], counts[order], images)


def _checked_id(token: int) -> int:
  if not 0 <= token <= ngrams.MAX_ID:
    raise errors.UserError(f"token id {token} is not from 0 to {ngrams.MAX_ID}")
  return token


_PLAIN = {
  ("collections", "defaultdict"): collections.defaultdict,
  ("__builtin__", "float"): float,
  ("builtins", "float"): float,
  ("__builtin__", "int"): int,
  ("builtins", "int"): int,
}


class _PlainUnpickler(pickle.Unpickler):
  """Loads tables of plain values and refuses anything that could run code."""

  def find_class(self, module: str, name: str) -> Any:
    if (module, name) not in _PLAIN:
      raise errors.UserError(f"refused to unpickle {module}.{name}")
    return _PLAIN[module, name]
