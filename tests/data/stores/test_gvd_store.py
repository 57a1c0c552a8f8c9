import pickle

import h5py
import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data.stores import gvd_store

PROPOSALS = np.zeros((2, 4, 6), np.float32)
PROPOSALS[0, :3] = [
  [0, 0, 10, 20, 2, 0.9],
  [5, 5, 30, 30, 0, 0.2],
  [6, 6, 30, 30, 1, 0.5],
]
PROPOSALS[1, :2] = [[0, 0, 9, 9, 1, 0.05], [1, 1, 9, 9, 2, 0.1]]
FEATURES = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def folder(tmp_path):
  with h5py.File(tmp_path / "proposals.h5", "w") as file:
    file["dets_labels"] = PROPOSALS
    file["nms_num"] = np.array([3, 2])
  files.write_json(tmp_path / "dic_set.json", {"images": [{"id": 7}, {"file_path": "a/8.jpg"}]})
  (tmp_path / "fc6").mkdir()
  np.save(tmp_path / "fc6" / "7.npy", FEATURES)
  np.save(tmp_path / "fc6" / "8.npy", FEATURES[:2])
  return tmp_path


def test_proposals_that_score_more_than_the_least_are_kept(folder):
  regions = gvd_store.GVDStore(folder).get("7")
  np.testing.assert_array_equal(regions.features, FEATURES[[0, 2]])
  np.testing.assert_array_equal(regions.boxes_px, PROPOSALS[0, [0, 2], :4])
  np.testing.assert_allclose(regions.scores, [0.9, 0.5])
  assert regions.labels == ()


def test_a_picture_of_weak_proposals_keeps_its_best(folder):
  np.testing.assert_allclose(gvd_store.GVDStore(folder).get("8").scores, [0.1])


def test_class_names_label_the_regions(folder):
  (folder / "objects_vocab.txt").write_text("clown\npear,pears\n")
  assert gvd_store.GVDStore(folder).get("7").labels == ("pear", "clown")
  assert gvd_store.GVDStore(folder, least_score=0.1).get("7").labels == ("pear", "", "clown")


def test_a_class_beyond_the_names_is_refused(folder):
  (folder / "objects_vocab.txt").write_text("clown\n")
  with pytest.raises(errors.UserError, match=r"class 2, but objects_vocab\.txt names 1"):
    gvd_store.GVDStore(folder).get("7")


def test_a_store_pickles_and_opens_from_its_file(folder):
  store = gvd_store.GVDStore(folder / "proposals.h5")
  store.get("7")
  assert pickle.loads(pickle.dumps(store)).get("8").count == 1


def test_features_must_match_the_proposals(folder):
  np.save(folder / "fc6" / "7.npy", FEATURES[:2])
  with pytest.raises(
    errors.UserError, match=r"7\.npy have 2 rows, but .*picture 7 has 3 proposals"
  ):
    gvd_store.GVDStore(folder).get("7")


def test_the_list_of_pictures_must_match_the_rows(folder):
  files.write_json(folder / "dic_set.json", {"images": [{"id": 7}]})
  with pytest.raises(errors.UserError, match=r"lists 1 pictures, but proposals\.h5 has 2 rows"):
    gvd_store.GVDStore(folder).ids()
  (folder / "dic_set.json").unlink()
  with pytest.raises(errors.UserError, match=r"0 files dic_"):
    gvd_store.GVDStore(folder).ids()


def test_a_picture_without_id_is_refused(folder):
  files.write_json(folder / "dic_set.json", {"images": [{"id": 7}, {}]})
  with pytest.raises(errors.UserError, match="neither id nor file_path"):
    gvd_store.GVDStore(folder).ids()


def test_proposals_of_another_shape_are_refused(folder):
  with h5py.File(folder / "proposals.h5", "w") as file:
    file["dets_labels"] = PROPOSALS[..., :5]
    file["nms_num"] = np.array([3, 2])
  with pytest.raises(errors.UserError, match=r"dets_labels has shape \[2, 4, 5\]"):
    gvd_store.GVDStore(folder).get("7")


def test_a_folder_without_proposals_or_features_is_refused(folder, tmp_path):
  for file in (folder / "fc6").iterdir():
    file.unlink()
  with pytest.raises(errors.UserError, match=r"0 folders of \.npy files"):
    gvd_store.GVDStore(folder)
  (folder / "proposals.h5").unlink()
  with pytest.raises(errors.UserError, match="no HDF5 file with dets_labels"):
    gvd_store.GVDStore(tmp_path)
