import pickle

import h5py
import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data.stores import precomp_arrays

FEATURES = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
BOXES = np.tile(np.array([[0, 0, 10, 20], [5, 5, 30, 30]], np.float32), (3, 1, 1))


@pytest.fixture
def folder(tmp_path):
  np.save(tmp_path / "dev_ims.npy", FEATURES)
  return tmp_path


def arrays(folder):
  return precomp_arrays.PrecompArrays(folder, "dev")


def test_features_stay_on_disk_until_a_row_is_read(folder):
  opened = arrays(folder)
  assert isinstance(opened.features, np.memmap)
  np.testing.assert_array_equal(opened.regions(1).features, FEATURES[1])
  assert opened.regions(1).boxes_px is None and len(opened) == 3


def test_one_feature_a_picture_is_one_region(folder):
  np.save(folder / "dev_ims.npy", FEATURES[:, 0])
  np.testing.assert_array_equal(arrays(folder).regions(2).features, FEATURES[2, :1])


def test_pfan_blocks_are_not_boxes(folder):
  np.save(folder / "dev_boxes.npy", np.ones((3, 2, 30)))
  opened = arrays(folder)
  assert opened.blocks.shape == (3, 2, 30) and opened.boxes is None


def test_boxes_from_zero_to_one_lie_in_a_picture_of_one_by_one(folder):
  np.save(folder / "dev_boxes.npy", BOXES / 100)
  opened = arrays(folder)
  assert opened.normalised and opened.size(0) == (1, 1) and opened.blocks is None


@pytest.mark.parametrize("kind", ["dictionaries", "numbers"])
def test_gsmn_boxes_come_with_sizes(folder, kind):
  np.save(folder / "dev_ims_bbx.npy", BOXES)
  sizes = [(40, 30), (50, 35), (60, 45)]
  rows = np.array([{"image_w": w, "image_h": h} for w, h in sizes], object)
  np.save(folder / "dev_ims_size.npy", rows if kind == "dictionaries" else np.array(sizes))
  opened = arrays(folder)
  assert not opened.normalised and opened.size(1) == (50, 35)
  np.testing.assert_array_equal(opened.regions(1).boxes_px, BOXES[1])


def test_pos_scan_hdf5_reads_like_npy(tmp_path):
  with h5py.File(tmp_path / "dev_ims.h5", "w") as file:
    file["feats"] = FEATURES
  with h5py.File(tmp_path / "dev_ims_box.h5", "w") as file:
    file["boxes"] = BOXES
  files.write_json(tmp_path / "dev_files.json", ["x/7.jpg", "8.jpg", "9.jpg"])
  opened = pickle.loads(pickle.dumps(arrays(tmp_path)))
  np.testing.assert_array_equal(opened.regions(2).features, FEATURES[2])
  np.testing.assert_array_equal(opened.regions(2).boxes_px, BOXES[2])
  assert opened.row_ids == ["7", "8", "9"] and not opened.normalised


def test_ids_may_be_listed_by_row_or_by_caption(folder):
  (folder / "dev_ids.txt").write_text("7\n8\n9\n")
  assert arrays(folder).row_ids == ["7", "8", "9"]
  (folder / "dev_ids.txt").write_text("7\n7\n8\n8\n9\n9\n")
  assert arrays(folder).row_ids == ["7", "8", "9"]


def refused(folder, message, ask):
  with pytest.raises(errors.UserError, match=message):
    ask(arrays(folder))


def test_lengths_that_differ_are_named(folder):
  (folder / "dev_ids.txt").write_text("7\n8\n9\n10\n")
  refused(folder, r"dev_ids\.txt has 4 ids, but dev_ims\.npy 3 rows", lambda a: a.row_ids)
  np.save(folder / "dev_boxes.npy", BOXES[:2])
  refused(folder, r"dev_boxes\.npy has 2 rows, but dev_ims\.npy 3", lambda a: a.boxes)
  np.save(folder / "dev_boxes.npy", BOXES)
  np.save(folder / "dev_ims_size.npy", np.ones((4, 2)))
  refused(folder, r"dev_ims_size\.npy has 4 rows", lambda a: a.sizes)


def test_broken_arrays_are_named(folder, tmp_path):
  np.save(folder / "dev_boxes.npy", np.ones(3))
  refused(folder, r"dev_boxes\.npy has shape \[3\]", lambda a: a.boxes)
  (folder / "dev_ims.npy").write_bytes(b"nothing")
  refused(folder, r"dev_ims\.npy is not a whole \.npy array", lambda a: a.features)
  (folder / "dev_ims.npy").unlink()
  refused(folder, r"dev_ims\.npy do not exist", lambda a: a.features)
  with h5py.File(tmp_path / "dev_ims.h5", "w") as file:
    file["other"] = FEATURES
  refused(folder, r"dev_ims\.h5: keys other; expected 'feats'", lambda a: a.features)
  (folder / "dev_ims.h5").write_bytes(b"nothing")
  refused(folder, r"dev_ims\.h5 is not a whole HDF5 file", lambda a: a.features)


def test_sizes_of_another_form_are_refused(folder):
  for rows in (np.ones((3, 3)), np.array([{"w": 1}] * 3, object), np.zeros((3, 2))):
    np.save(folder / "dev_ims_size.npy", rows)
    refused(folder, r"dev_ims_size\.npy: expected \[pictures, 2\]", lambda a: a.sizes)


def test_a_list_of_files_must_be_a_list(folder):
  files.write_json(folder / "dev_files.json", {"7": 0})
  refused(folder, r"dev_files\.json: expected a list", lambda a: a.row_ids)


def test_splits_are_found_by_their_features(folder):
  for name in ("train_ims.npy", "testall_ims.h5", "train_ims_bbx.npy", "test_ims_fc.h5"):
    (folder / name).touch()
  assert precomp_arrays.split_names(folder) == ["train", "dev", "testall"]
