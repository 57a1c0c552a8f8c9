"""Region features in the arrays of SCAN, PFAN, BFAN, GSMN and POS-SCAN; see precomp_arrays."""

import collections
import functools
from collections.abc import Sequence

import numpy as np

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.stores import precomp_arrays, region_store


class ArrayStore(region_store.RegionStore):
  """All splits of a `precomp` folder, or the one whose `_ims` file is given.

  Pictures have the ids of the id files, with their split in front if two splits use the same
  id ("dev_17"); without id files they are called by split and row. Rows that follow each
  other with one id are one picture, of which the first row counts.

  Attributes:
    arrays: split, as in the file names -> its arrays.
  """

  def __init__(self, path: files.PathLike):
    super().__init__(path)
    folder = self.path if self.path.is_dir() else self.path.parent
    names = precomp_arrays.split_names(self.path)
    if not names:
      raise errors.UserError(f"{path}: no *_ims.npy or *_ims.h5 file there")
    self.arrays = {name: precomp_arrays.PrecompArrays(folder, name) for name in names}

  def ids(self) -> Sequence[str]:
    return list(self._rows)

  def split_ids(self, split: str) -> list[str]:
    """The pictures of a split, in the order of their rows."""
    return [image_id for image_id, (name, _) in self._rows.items() if name == split]

  def rows(self, image_id: str) -> range:
    """The rows of a picture in its split's arrays."""
    return self._rows[image_id][1]

  def size(self, image_id: str) -> tuple[int, int]:
    split, rows = self._rows[image_id]
    return self.arrays[split].size(rows[0])

  def where(self, image_id: str) -> str:
    split, rows = self._rows[image_id]
    return f"{self.arrays[split].features_file}, row {rows[0]}, picture {image_id}"

  def blocks(self, image_id: str) -> np.ndarray | None:
    """[R, 30] PFAN blocks of a picture, None if there are none."""
    split, rows = self._rows[image_id]
    blocks = self.arrays[split].blocks
    return None if blocks is None else region_store.float_rows(blocks[rows[0]])

  def _read(self, image_id: str) -> records.Regions:
    split, rows = self._rows[image_id]
    return self.arrays[split].regions(rows[0])

  @functools.cached_property
  def _rows(self) -> dict[str, tuple[str, range]]:
    pictures = {split: _pictures(arrays) for split, arrays in self.arrays.items()}
    uses = collections.Counter(image_id for rows in pictures.values() for image_id in rows)
    shared = max(uses.values(), default=0) > 1
    return {
      f"{split}_{image_id}" if shared else image_id: (split, rows)
      for split, named in pictures.items()
      for image_id, rows in named.items()
    }


def _pictures(arrays: precomp_arrays.PrecompArrays) -> dict[str, range]:
  """Picture -> its rows, which must follow each other."""
  ids = arrays.row_ids or [f"{arrays.split}_{row}" for row in range(len(arrays))]
  starts = [row for row in range(len(ids)) if row == 0 or ids[row] != ids[row - 1]]
  found: dict[str, range] = {}
  for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
    image_id = ids[start]
    if image_id in found:
      raise errors.UserError(
        f"{arrays.features_file}: rows {found[image_id][0]} and {start} are both picture "
        f"{image_id}, with others between; put the rows of a picture together"
      )
    found[image_id] = range(start, end)
  return found
