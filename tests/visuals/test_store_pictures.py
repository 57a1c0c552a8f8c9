import numpy as np
from PIL import Image

from gcap_tf.data import records
from gcap_tf.data.stores import extracted_store, feature_folders
from gcap_tf.visuals import store_pictures


def _store(folder, colour_column):
  info = extracted_store.StoreInfo(
    "shipped", 2, 0.0, 2, 1, 1, 1, {"colours": [0, 2]}, ["dog"], ["red", "blue"], "0"
  )
  extracted_store.write_info(folder, info)
  regions = records.Regions(
    boxes_px=np.array([[5, 5, 40, 30]], np.float32),
    features=np.array([[0, colour_column]], np.float32),
    labels=("dog",),
    scores=np.array([0.5], np.float32),
    global_feature=np.zeros(1, np.float32),
    grid_features=np.zeros((1, 1), np.float32),
    colours=("blue",),
  )
  extracted_store.write_picture(folder, "a", regions, (60, 40))
  return feature_folders.FolderStore(folder)


def test_a_colour_is_drawn_if_it_is_sure(tmp_path):
  path = tmp_path / "a.png"
  Image.new("RGB", (60, 40), "white").save(path)
  drawn = [
    np.asarray(store_pictures.draw(_store(tmp_path / name, value), "a", path, 5))
    for name, value in (("sure", 4.0), ("unsure", 1.0))
  ]
  assert drawn[0].shape == drawn[1].shape
  assert (drawn[0] != drawn[1]).any()  # "blue dog 50" and "dog 50".
  assert (drawn[1] != 255).any()


def test_pictures_that_the_store_lacks_are_passed_over(tmp_path):
  path = tmp_path / "a.png"
  Image.new("RGB", (60, 40), "white").save(path)
  store_pictures.draw_all(_store(tmp_path / "store", 4.0), {"a": path, "b": path}, tmp_path / "out")
  assert [found.name for found in (tmp_path / "out").iterdir()] == ["a.jpg"]
