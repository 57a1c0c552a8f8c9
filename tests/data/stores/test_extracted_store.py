import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.stores import extracted_store, store_formats

INFO = extracted_store.StoreInfo(
  detector="shipped",
  regions=2,
  min_score=0.0,
  feature_size=3,
  global_size=2,
  grid_size=2,
  grid_cells=4,
  columns={"labels": [1, 3]},
  labels=("dog", "man"),
  colours=("red",),
  fingerprint="0",
)
REGIONS = records.Regions(
  boxes_px=np.array([[0, 0, 10, 20], [5, 5, 30, 30]], np.float32),
  features=np.array([[1, 2, 3], [4, 5, 6.5]], np.float32),
  labels=("dog", ""),
  scores=np.array([0.75, 0.5], np.float32),
  global_feature=np.array([7, 8], np.float32),
  grid_features=np.arange(8, dtype=np.float32).reshape(4, 2),
  colours=("red", "red"),
)


def _written(folder):
  extracted_store.write_info(folder, INFO)
  extracted_store.write_picture(folder, "7", REGIONS, (40, 30))
  return folder


def test_what_is_written_is_read_back(tmp_path):
  store = store_formats.open_store(_written(tmp_path))
  found = store.get("7")
  assert store.size("7") == (40, 30)
  assert (found.labels, found.colours) == (REGIONS.labels, REGIONS.colours)
  for name in ("boxes_px", "features", "scores", "global_feature", "grid_features"):
    np.testing.assert_array_equal(getattr(found, name), getattr(REGIONS, name))
  assert store.info.detector == "shipped" and store.info.columns == {"labels": [1, 3]}


def test_boxes_are_scaled_to_the_original_picture(tmp_path):
  found = store_formats.open_store(_written(tmp_path)).get("7", 80, 60)
  np.testing.assert_array_equal(found.boxes_px, 2 * REGIONS.boxes_px)


def test_the_same_regions_give_the_same_bytes(tmp_path):
  for name in ("a", "b"):
    _written(tmp_path / name)
  for file in ("att/7.npz", "box/7.npy", "fc/7.npy"):
    assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_description_of_something_else_is_an_error(tmp_path):
  (tmp_path / "store.json").write_text('{"name": "shop"}')
  with pytest.raises(errors.UserError, match="does not describe"):
    extracted_store.read_info(tmp_path)


@pytest.mark.parametrize("file", ["box/7.npy", "fc/7.npy", "att/7.npz"])
def test_a_flipped_bit_is_found(tmp_path, file):
  path = _written(tmp_path) / file
  content = bytearray(path.read_bytes())
  content[-9 if path.suffix == ".npy" else 200] ^= 4
  path.write_bytes(bytes(content))
  with pytest.raises(errors.UserError, match=r"7\.np"):
    store_formats.open_store(tmp_path).get("7")


@pytest.mark.parametrize("image_id", ["../x", "/x", "a/b", "", "..", "."])
def test_an_id_that_leads_elsewhere_is_refused(tmp_path, image_id):
  with pytest.raises(errors.UserError, match="is not the name of a file"):
    extracted_store.write_picture(tmp_path / "store", image_id, REGIONS, (40, 30))
  assert not list(tmp_path.iterdir())


def test_a_store_without_its_description_is_refused(tmp_path):
  (_written(tmp_path) / "store.json").unlink()
  with pytest.raises(errors.UserError, match=r"store\.json is missing"):
    store_formats.open_store(tmp_path).get("7")


def test_an_array_under_a_changed_name_is_refused(tmp_path):
  path = _written(tmp_path) / "att" / "7.npz"
  path.write_bytes(path.read_bytes().replace(b"scores.npy", b"sc0res.npy"))
  with pytest.raises(errors.UserError, match=r"unknown 'sc0res'"):
    store_formats.open_store(tmp_path).get("7")
