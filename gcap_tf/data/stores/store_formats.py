"""Opens a store of region features, whatever its format."""

import pathlib
from collections.abc import Callable

from gcap_tf import errors, files
from gcap_tf.data.stores import (
  array_store,
  bottom_up,
  feature_folders,
  gvd_store,
  gvd_video_store,
  precomp_arrays,
  region_store,
)

RegionStore = region_store.RegionStore

# Description, recogniser and class of each format; the first that fits opens the path.
_FORMATS: tuple[tuple[str, Callable[[pathlib.Path], object], type[RegionStore]], ...] = (
  (
    "folders att, box, fc (or *_att, *_att_gvd, ...)",
    feature_folders.att_folder,
    feature_folders.FolderStore,
  ),
  ("bottom-up *.tsv files", bottom_up.tsv_files, bottom_up.BottomUpStore),
  ("SCAN arrays *_ims.npy or *_ims.h5", precomp_arrays.split_names, array_store.ArrayStore),
  ("GVD proposals *.h5 with dets_labels", gvd_store.GVDStore.proposals_in, gvd_store.GVDStore),
  (
    "GVD proposals of videos *.h5 with dets_labels and dets_num",
    gvd_video_store.GVDVideoStore.proposals_in,
    gvd_video_store.GVDVideoStore,
  ),
)


def open_store(path: files.PathLike) -> RegionStore:
  """Opens the store at `path`, a folder or file of any known format.

  Raises:
    UserError: `path` does not exist, or holds no format that is known.
  """
  path = pathlib.Path(path)
  if not path.exists():
    raise errors.UserError(f"region features {path} do not exist")
  for _, recognise, store in _FORMATS:
    if recognise(path):
      return store(path)
  known = "; ".join(description for description, _, _ in _FORMATS)
  raise errors.UserError(f"{path}: no region features there; looked for {known}")
