"""Similarity of many pictures with many captions, in blocks of bounded size.

Captions are sorted by length first, so that a block holds captions of nearly equal length
and almost no padding is scored. The result is in the order of the input.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import progress
from gcap_tf.matchers import base

# Affinities in a block: few enough for the processor's cache, and enough for matrix products
# to run at full speed.
BLOCK_NUMBERS = 3 * 2**20
IMAGES_OF_BLOCK = 64

Arrays = Mapping[str, np.ndarray]


class CaptionStore:
  """Encoded captions without their padding.

  5,000 captions padded to the longest one need gigabytes; their words alone need 300 MB.
  """

  def __init__(self):
    self._rows: list[dict[str, np.ndarray]] = []

  def __len__(self) -> int:
    return len(self._rows)

  def add(self, captions: Arrays) -> None:
    """Adds a batch of encoded captions; C is the first axis of every array."""
    arrays = {name: np.asarray(array) for name, array in captions.items()}
    for row, length in enumerate(arrays["word_mask"].sum(1)):
      self._rows.append(
        {
          name: array[row, :length].copy() if name in base.PER_WORD else array[row].copy()
          for name, array in arrays.items()
        }
      )

  def lengths(self) -> np.ndarray:
    return np.array([len(row["word_mask"]) for row in self._rows])

  def batch(self, index: Sequence[int]) -> dict[str, np.ndarray]:
    """The captions at `index`, padded to the longest of them."""
    rows = [self._rows[i] for i in index]
    longest = max(len(row["word_mask"]) for row in rows)
    return {
      name: np.stack(
        [_pad(row[name], longest) if name in base.PER_WORD else row[name] for row in rows]
      )
      for name in rows[0]
    }


class Scorer:
  """Scores any number of pictures and captions with one traced graph.

  Args:
    matcher: any matcher; its weights may change between calls.
  """

  def __init__(self, matcher: base.Matcher):
    self._similarity = tf.function(
      lambda images, captions: matcher.similarity(images, captions),
      autograph=False,
      reduce_retracing=True,
    )

  def similarity_matrix(self, images: Arrays, captions: Arrays | CaptionStore) -> np.ndarray:
    """Scores of all pairs, float32 [I, C].

    Args:
      images: encoded pictures; I is the first axis of every array.
      captions: encoded captions: arrays whose first axis is C, or a store of them.
    """
    store = captions
    if not isinstance(store, CaptionStore):
      store = CaptionStore()
      store.add(captions)
    images = {name: np.asarray(array) for name, array in images.items()}
    count, regions = images["region_mask"].shape
    similarity = np.empty((count, len(store)), np.float32)
    groups = caption_blocks(store.lengths(), regions)
    for group in progress.bar(groups, label="scoring", unit="block"):
      sentences = _tensors(store.batch(group))
      for first in range(0, count, IMAGES_OF_BLOCK):
        rows = slice(first, first + IMAGES_OF_BLOCK)
        pictures = _tensors({name: array[rows] for name, array in images.items()})
        similarity[rows, group] = self._similarity(pictures, sentences).numpy()
    return similarity


def similarity_matrix(
  matcher: base.Matcher, images: Arrays, captions: Arrays | CaptionStore
) -> np.ndarray:
  """Scores of all pairs, float32 [I, C]; keep a `Scorer` to score more than once."""
  return Scorer(matcher).similarity_matrix(images, captions)


def caption_blocks(lengths: np.ndarray, regions: int) -> list[np.ndarray]:
  """Groups captions of similar length so that a group's affinities fit BLOCK_NUMBERS."""
  order = np.argsort(-lengths, kind="stable")
  words = max(BLOCK_NUMBERS // (IMAGES_OF_BLOCK * regions), 1)
  blocks, start = [], 0
  while start < len(order):
    size = max(words // max(int(lengths[order[start]]), 1), 1)
    blocks.append(order[start : start + size])
    start += size
  return blocks


def _tensors(arrays: Arrays) -> dict[str, tf.Tensor]:
  return {name: tf.convert_to_tensor(array) for name, array in arrays.items()}


def _pad(array: np.ndarray, length: int) -> np.ndarray:
  return np.pad(array, [(0, length - len(array))] + [(0, 0)] * (array.ndim - 1))
