"""The interface of region stores: list pictures, return the regions of one."""

import abc
import dataclasses
import functools
import pathlib
import tokenize
from collections.abc import Sequence

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data import records, validation


class RegionStore(abc.ABC):
  """Region features of many pictures, read one picture at a time.

  Stores can be pickled; another process opens the files again.

  Attributes:
    path: the file or folder.
  """

  def __init__(self, path: files.PathLike):
    self.path = pathlib.Path(path)
    self._feature_size: int | None = None

  @abc.abstractmethod
  def ids(self) -> Sequence[str]:
    """Ids of all pictures, in the order of the store."""

  @abc.abstractmethod
  def _read(self, image_id: str) -> records.Regions:
    """Regions of a picture that the store has; their content is checked by `get`."""

  def __contains__(self, image_id: str) -> bool:
    return image_id in self._ids

  def __len__(self) -> int:
    return len(self.ids())

  def size(self, image_id: str) -> tuple[int, int]:
    """Width and height of the frame that boxes are in; (0, 0) if the store does not know it."""
    del image_id
    return 0, 0

  def get(self, image_id: str, width: int = 0, height: int = 0) -> records.Regions:
    """The regions of a picture.

    Args:
      image_id: which.
      width: of the original picture in pixels, 0 if unknown. Boxes that the store
        has in another frame (a resized picture, or 0 to 1) are scaled to it.
      height: likewise.

    Raises:
      UserError: the store lacks the picture, or what it has is damaged.
    """
    if image_id not in self:
      ids = self.ids()
      raise errors.UserError(
        f"{self.path}: no regions of picture {image_id}; there are {len(ids):,} pictures, such as "
        f"{', '.join(ids[:3])}: extract it, or leave the picture out"
      )
    regions, where = self._read(image_id), self.where(image_id)
    frame = self.size(image_id)
    validation.check_regions(regions, where, *(frame if frame[0] else (width, height)))
    if regions.features is not None:
      self._check_feature_size(regions.features, where)
    if regions.boxes_px is not None and frame[0] and width and frame != (width, height):
      scale = np.array([width / frame[0], height / frame[1]] * 2, np.float32)
      regions = dataclasses.replace(regions, boxes_px=regions.boxes_px * scale)
    return regions

  def where(self, image_id: str) -> str:
    """The name of a picture's entry in errors."""
    return f"{self.path}: picture {image_id}"

  @functools.cached_property
  def _ids(self) -> frozenset[str]:
    return frozenset(self.ids())

  def _check_feature_size(self, features: np.ndarray, where: str) -> None:
    size = features.shape[1]
    self._feature_size = self._feature_size or size
    if size != self._feature_size:
      raise errors.UserError(
        f"{where}: features of size {size}, others have {self._feature_size}; "
        "was the file cut short, or do two extractions share a store?"
      )


# What NumPy raises if the header of a `.npy` file is damaged, besides the usual errors.
DAMAGED_HEADER = (tokenize.TokenError, SyntaxError, TypeError, OverflowError, MemoryError)


def load_array(path: pathlib.Path, what: str, mapped: bool = False) -> np.ndarray:
  """A numeric `.npy` file, whole or memory-mapped; never unpickles."""
  try:
    return np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
  except FileNotFoundError:
    raise errors.UserError(f"{what} {path} does not exist") from None
  except (ValueError, EOFError, OSError, *DAMAGED_HEADER) as error:
    raise errors.UserError(
      f"{what} {path} is not a whole .npy array of numbers ({error}); write it again"
    ) from None


def float_rows(rows: np.ndarray) -> np.ndarray:
  """A contiguous float32 copy, in memory."""
  return np.array(rows, np.float32, order="C")
