"""A dataset whose validation pictures are held out of those for training.

Dai and Lin (NIPS 2017) hold 2,000 pictures out of MS-COCO's train and val together, and 2,000 out
of InstaPIC's train.
"""

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.readers import reader

_SEED = 2_000


class HeldOut(reader.Reader):
  """Another reader with a new `val`: the other pictures of its train and val are `train`.

  Args:
    inner: the reader of the dataset.
    count: pictures of the new val, chosen at random, the same in every run.
  """

  def __init__(self, inner: reader.Reader, count: int):
    super().__init__(inner.source, getattr(inner, "classes", None), inner.merge)
    self.inner, self.count = inner, count
    if "train" not in inner.splits:
      raise errors.UserError(f"{inner.source} has no train split to hold pictures out of")
    if count >= len(self._owners):
      raise errors.UserError(
        f"--holdout={count}: {inner.source} has {len(self._owners):,} pictures of train and val; "
        "hold out fewer"
      )

  @property
  def classes(self):
    """The object classes of the dataset."""
    return getattr(self.inner, "classes", None)

  @property
  def splits(self) -> tuple[str, ...]:
    return ("train", "val", *(name for name in self.inner.splits if name not in ("train", "val")))

  def image_ids(self, split: str) -> Sequence[str]:
    if split not in ("train", "val"):
      return self.inner.image_ids(split)
    return [image for image in self._owners if (image in self._held) == (split == "val")]

  def record(self, image_id: str, split: str) -> records.Record:
    owner = self._owners.get(image_id, split) if split in ("train", "val") else split
    return dataclasses.replace(self.inner.record(image_id, owner), split=split)

  @functools.cached_property
  def _owners(self) -> dict[str, str]:
    """Picture -> its split in the dataset, in order."""
    own = [name for name in ("train", "val") if name in self.inner.splits]
    return {image: name for name in own for image in self.inner.image_ids(name)}

  @functools.cached_property
  def _held(self) -> frozenset[str]:
    order = np.random.default_rng(_SEED).permutation(len(self._owners))
    images = list(self._owners)
    return frozenset(images[n] for n in order[: self.count])
