"""The interface of dataset readers: name the splits, list their pictures, parse one."""

import abc
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from gcap_tf import box_geometry, errors, files
from gcap_tf import progress as progress_bars
from gcap_tf.data import records
from gcap_tf.text import object_words


class Reader(abc.ABC):
  """A dataset on disk.

  Readers can be pickled and parse one picture at a time, so that a pool of processes or a Beam
  pipeline can share the work.

  Attributes:
    source: the dataset's folder or file.
    merge: how the several boxes of an entity become the one box of a word.
  """

  def __init__(
    self,
    source: files.PathLike,
    classes: object_words.ObjectClasses | None = None,
    merge: box_geometry.Merge = "union",
  ):
    """Keeps the options that all readers share.

    Args:
      source: the dataset's folder or file.
      classes: words that name objects; a dataset has its own default.
      merge: "union" (the enclosing box), "first" or "largest".
    """
    self.source = source
    self.merge = merge
    self._classes = classes

  def __getstate__(self) -> dict[str, Any]:
    """Leaves out data read from disk; the other process reads it again."""
    return {
      name: value
      for name, value in self.__dict__.items()
      if not isinstance(getattr(type(self), name, None), functools.cached_property)
    }

  @property
  @abc.abstractmethod
  def splits(self) -> tuple[str, ...]:
    """Names of the splits that the source has."""

  @abc.abstractmethod
  def image_ids(self, split: str) -> Sequence[str]:
    """Ids of a split's pictures, in the dataset's order."""

  @abc.abstractmethod
  def record(self, image_id: str, split: str) -> records.Record:
    """Parses one picture."""

  def read(
    self,
    splits: Sequence[str] | None = None,
    max_images: int | None = None,
    progress: bool = True,
  ) -> Iterator[records.Record]:
    """Yields the pictures of the splits, in order.

    Args:
      splits: which; all by default.
      max_images: the most pictures of each split.
      progress: draw a bar on standard error.
    """
    known = self.splits
    for split in splits or ():
      if split not in known:
        raise errors.UserError(f'{self.source}: no split "{split}"; it has {", ".join(known)}')
    listed = {split: self.image_ids(split)[:max_images] for split in splits or known}
    refuse_shared_pictures(listed, str(self.source))
    for split, ids in listed.items():
      shown = progress_bars.bar(ids, label=f"Reading {split}", unit="picture") if progress else ids
      for image_id in shown:
        yield self.record(image_id, split)


def refuse_shared_pictures(listed: dict[str, Sequence[str]], where: str) -> None:
  """Raises a `UserError` if two splits hold the same picture, or one holds it twice."""
  owner: dict[str, str] = {}
  for split, ids in listed.items():
    for image_id in ids:
      if image_id in owner:
        raise errors.UserError(
          f"{where}: picture {image_id} is listed in {owner[image_id]} and again in {split}; "
          "list it once"
        )
      owner[image_id] = split
