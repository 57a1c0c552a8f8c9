import h5py
import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.stores import (
  array_store,
  bottom_up,
  feature_folders,
  gvd_store,
  store_formats,
)


def make_folders(folder):
  (folder / "x_att").mkdir()


def make_tsv(folder):
  (folder / "a.tsv.0").write_text("")


def make_arrays(folder):
  np.save(folder / "test_ims.npy", np.ones((1, 1, 1)))


def make_proposals(folder):
  with h5py.File(folder / "p.h5", "w") as file:
    file["dets_labels"] = np.zeros((1, 1, 6))
    file["nms_num"] = np.zeros(1)
  (folder / "features").mkdir()
  np.save(folder / "features" / "7.npy", np.ones((1, 2)))


@pytest.mark.parametrize(
  ("make", "kind"),
  [
    (make_folders, feature_folders.FolderStore),
    (make_tsv, bottom_up.BottomUpStore),
    (make_arrays, array_store.ArrayStore),
    (make_proposals, gvd_store.GVDStore),
  ],
)
def test_each_format_is_recognised(tmp_path, make, kind):
  make(tmp_path)
  assert type(store_formats.open_store(tmp_path)) is kind


def test_a_single_file_is_recognised(tmp_path):
  make_arrays(tmp_path)
  assert isinstance(store_formats.open_store(tmp_path / "test_ims.npy"), store_formats.RegionStore)


def test_a_path_that_does_not_exist_is_named(tmp_path):
  with pytest.raises(errors.UserError, match=r"region features .*none do not exist"):
    store_formats.open_store(tmp_path / "none")


def test_an_unknown_folder_says_what_was_looked_for(tmp_path):
  with pytest.raises(
    errors.UserError, match=r"looked for folders att.*\.tsv.*_ims\.npy.*dets_labels"
  ):
    store_formats.open_store(tmp_path)
