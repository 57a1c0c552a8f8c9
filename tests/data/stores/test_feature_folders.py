import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.stores import feature_folders

FEATURES = np.arange(6, dtype=np.float32).reshape(2, 3)
BOXES = np.array([[0, 0, 10, 20, 0.9], [5, 5, 30, 30, 0.8]], np.float32)


def fill(folder, att="att", box="box", fc="fc", ending="npz", key="feat"):
  for name in filter(None, (att, box, fc)):
    (folder / name).mkdir()
  if ending == "npz":
    np.savez(folder / att / "7.npz", **{key: FEATURES})
  else:
    np.save(folder / att / "7.npy", FEATURES)
  if box:
    np.save(folder / box / "7.npy", BOXES)
  if fc:
    np.save(folder / fc / "7.npy", FEATURES.mean(axis=0))
  return folder


@pytest.mark.parametrize(
  "layout",
  [
    {},
    {"key": "z"},
    {"ending": "npy"},
    {"att": "cocobu_att", "box": "cocobu_box", "fc": "cocobu_fc"},
    {"att": "flickr_att_gvd", "box": "flickr_box_gvd", "fc": "flickr_fc", "ending": "npy"},
  ],
)
def test_every_known_layout_is_read(tmp_path, layout):
  store = feature_folders.FolderStore(fill(tmp_path, **layout))
  regions = store.get("7")
  assert store.ids() == ["7"]
  np.testing.assert_array_equal(regions.features, FEATURES)
  np.testing.assert_array_equal(regions.boxes_px, BOXES[:, :4])
  np.testing.assert_allclose(regions.global_feature, FEATURES.mean(axis=0))


def test_boxes_and_picture_features_are_optional(tmp_path):
  regions = feature_folders.FolderStore(fill(tmp_path, box="", fc="")).get("7")
  assert regions.boxes_px is None and regions.global_feature is None


def test_a_grid_of_features_becomes_rows(tmp_path):
  fill(tmp_path, box="", fc="")
  np.savez(tmp_path / "att" / "7.npz", feat=FEATURES.reshape(1, 2, 3))
  np.testing.assert_array_equal(feature_folders.FolderStore(tmp_path).get("7").features, FEATURES)


def test_the_att_folder_itself_may_be_given(tmp_path):
  fill(tmp_path, att="a_att", box="a_box", fc="")
  (tmp_path / "b_att").mkdir()
  assert feature_folders.FolderStore(tmp_path / "a_att").get("7").boxes_px is not None
  with pytest.raises(errors.UserError, match="several sets of features"):
    feature_folders.FolderStore(tmp_path)


def test_a_missing_key_lists_those_that_are_there(tmp_path):
  store = feature_folders.FolderStore(fill(tmp_path, key="x"))
  with pytest.raises(errors.UserError, match=r"att/7\.npz: keys x; expected feat or z"):
    store.get("7")


def test_a_truncated_file_is_named(tmp_path):
  path = fill(tmp_path) / "att" / "7.npz"
  path.write_bytes(path.read_bytes()[:-30])
  with pytest.raises(errors.UserError, match=r"att/7\.npz: not a whole \.npz file"):
    feature_folders.FolderStore(tmp_path).get("7")


def test_features_and_boxes_must_agree_in_number(tmp_path):
  np.save(fill(tmp_path) / "box" / "7.npy", BOXES[:1])
  with pytest.raises(errors.UserError, match=r"7\.npz: 1 boxes, 2 features"):
    feature_folders.FolderStore(tmp_path).get("7")


def test_a_missing_box_file_is_named(tmp_path):
  (fill(tmp_path) / "box" / "7.npy").unlink()
  with pytest.raises(errors.UserError, match=r"box/7\.npy does not exist"):
    feature_folders.FolderStore(tmp_path).get("7")


def test_boxes_of_too_few_columns_are_refused(tmp_path):
  np.save(fill(tmp_path) / "box" / "7.npy", BOXES[:, :3])
  with pytest.raises(errors.UserError, match=r"box/7\.npy have shape \[2, 3\]"):
    feature_folders.FolderStore(tmp_path).get("7")


def test_a_missing_picture_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match="no regions of picture 8"):
    feature_folders.FolderStore(fill(tmp_path)).get("8")


def test_a_folder_without_att_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match=r"no folder att"):
    feature_folders.FolderStore(tmp_path)
