import pickle

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.stores import array_store

TRAIN = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
TEST = TRAIN + 100


def make(folder, train_ids=None, test_ids=None):
  for split, features, ids in (("train", TRAIN, train_ids), ("test", TEST, test_ids)):
    np.save(folder / f"{split}_ims.npy", features)
    if ids:
      (folder / f"{split}_ids.txt").write_text("\n".join(ids))
  return array_store.ArrayStore(folder)


def test_pictures_are_called_by_their_ids(tmp_path):
  store = make(tmp_path, ["7", "8"], ["9", "10"])
  assert store.ids() == ["7", "8", "9", "10"] and store.split_ids("test") == ["9", "10"]
  np.testing.assert_array_equal(store.get("9").features, TEST[0])


def test_ids_used_by_two_splits_are_led_by_the_split(tmp_path):
  assert make(tmp_path, ["0", "1"], ["0", "1"]).ids() == ["train_0", "train_1", "test_0", "test_1"]


def test_without_ids_pictures_are_called_by_split_and_row(tmp_path):
  assert make(tmp_path, ["7", "8"]).ids() == ["7", "8", "test_0", "test_1"]


def test_rows_of_one_picture_are_one_picture(tmp_path):
  store = make(tmp_path, ["7", "7"], ["8", "9"])
  assert store.ids() == ["7", "8", "9"] and store.rows("7") == range(0, 2)
  np.testing.assert_array_equal(store.get("7").features, TRAIN[0])


def test_scattered_rows_of_one_picture_are_refused(tmp_path):
  np.save(tmp_path / "train_ims.npy", np.ones((3, 1, 2), np.float32))
  (tmp_path / "train_ids.txt").write_text("7\n8\n7\n")
  with pytest.raises(errors.UserError, match="rows 0 and 2 are both picture 7"):
    array_store.ArrayStore(tmp_path).ids()


def test_one_split_may_be_given_as_its_file(tmp_path):
  make(tmp_path)
  assert array_store.ArrayStore(tmp_path / "test_ims.npy").ids() == ["test_0", "test_1"]


def test_pfan_blocks_are_given_by_picture(tmp_path):
  store = make(tmp_path, ["7", "8"])
  assert store.blocks("7") is None
  blocks = np.arange(120, dtype=np.float64).reshape(2, 2, 30)
  np.save(tmp_path / "train_boxes.npy", blocks)
  np.testing.assert_array_equal(array_store.ArrayStore(tmp_path).blocks("8"), blocks[1])


def test_boxes_from_zero_to_one_scale_to_the_picture(tmp_path):
  make(tmp_path, ["7", "8"])
  np.save(tmp_path / "train_boxes.npy", np.full((2, 2, 4), [0, 0, 0.5, 1], np.float32))
  store = array_store.ArrayStore(tmp_path)
  assert store.size("7") == (1, 1)
  assert store.get("7", 200, 100).boxes_px[0].tolist() == [0, 0, 100, 100]


def test_a_nan_names_file_row_and_picture(tmp_path):
  features = TRAIN.copy()
  features[1, 1, 0] = np.nan
  np.save(tmp_path / "train_ims.npy", features)
  store = array_store.ArrayStore(tmp_path)
  with pytest.raises(errors.UserError, match=r"train_ims\.npy, row 1, picture train_1: feature 1"):
    store.get("train_1")


def test_a_store_pickles(tmp_path):
  store = make(tmp_path, ["7", "8"])
  store.get("7")
  np.testing.assert_array_equal(pickle.loads(pickle.dumps(store)).get("8").features, TRAIN[1])


def test_a_folder_without_arrays_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match=r"no \*_ims\.npy"):
    array_store.ArrayStore(tmp_path)
