"""N-grams of token ids as integers, for many sentences at once.

Up to four tokens are packed into 64 bits. Each token takes 16 bits as id + 1, so n-grams of
different n are never equal. This is exact for ids up to 65,534.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from gcap_tf import errors

ORDER = 4
MAX_ID = 2**16 - 2

Sentences = np.ndarray | Sequence[Sequence[int]]


class WordIds:
  """Numbers the words of captions in order of appearance: word -> 1, 2, ..."""

  def __init__(self):
    self._ids: dict[str, int] = {}

  def __call__(self, text: str) -> list[int]:
    return [self._ids.setdefault(word, len(self._ids) + 1) for word in text.split()]


def flatten(sentences: Sentences, include_end: bool = True) -> tuple[np.ndarray, np.ndarray]:
  """Joins sentences end to end.

  Args:
    sentences: an array [B, T] of padded rows, which end at their first 0; or lists of ids,
      which are used as they are.
    include_end: whether the 0 that ends a padded row is kept; it counts as a word in
      CIDEr-D.

  Returns:
    ids [sum of lengths] int64, lengths [B] int64.
  """
  if isinstance(sentences, np.ndarray):
    ended = sentences == 0
    first = np.where(ended.any(1), ended.argmax(1) + include_end, sentences.shape[1])
    inside = np.arange(sentences.shape[1]) < first[:, None]
    ids, lengths = sentences[inside], first
  else:
    lengths = np.array([len(sentence) for sentence in sentences], np.int64)
    ids = np.fromiter((i for sentence in sentences for i in sentence), np.int64, lengths.sum())
  if len(ids) and (ids.min() < 0 or ids.max() > MAX_ID):
    raise errors.UserError(
      f"token ids are from {ids.min()} to {ids.max()}; n-grams take ids from 0 to {MAX_ID}"
    )
  return ids.astype(np.int64), lengths.astype(np.int64)


def extract(ids: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Every 1- to 4-gram of every sentence.

  Args:
    ids: tokens, sentences end to end.
    lengths: [B] tokens of each sentence.

  Returns:
    The sentence [N] int64 and the key [N] uint64 of each n-gram, with repetitions.
  """
  sentence = np.repeat(np.arange(len(lengths)), lengths)
  left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(ids))  # tokens to the end
  tokens = (ids + 1).astype(np.uint64)
  keys, owners = [tokens], [sentence]
  gram = tokens
  for n in range(2, ORDER + 1):
    gram = (gram[:-1] << np.uint64(16)) | tokens[n - 1 :] if len(gram) > 1 else gram[:0]
    whole = left[: len(gram)] >= n
    keys.append(gram[whole])
    owners.append(sentence[: len(gram)][whole])
  return np.concatenate(owners), np.concatenate(keys)


def order_of(keys: np.ndarray) -> np.ndarray:
  """n - 1 of each n-gram: [N] int64 from 0 to 3."""
  limits = np.uint64(1) << np.array([16, 32, 48], np.uint64)
  return np.searchsorted(limits, keys, side="right")


def pack(gram: Iterable[int]) -> int:
  """The key of one n-gram."""
  key = 0
  for token in gram:
    key = (key << 16) | (token + 1)
  return key
