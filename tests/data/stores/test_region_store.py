import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.stores import region_store


class Shelf(region_store.RegionStore):
  """Keeps regions in memory, for the test."""

  def __init__(self, regions, frame=(0, 0)):
    super().__init__("shelf")
    self.kept = regions
    self.frame = frame

  def ids(self):
    return list(self.kept)

  def size(self, image_id):
    return self.frame

  def _read(self, image_id):
    return self.kept[image_id]


def regions(width=3, box=(0, 0, 10, 20)):
  return records.Regions(
    boxes_px=np.array([box], np.float32), features=np.ones((1, width), np.float32)
  )


def test_a_missing_picture_is_named_with_some_that_are_there():
  with pytest.raises(errors.UserError, match=r"shelf: no regions of picture c; .* such as a, b"):
    Shelf({"a": regions(), "b": regions()}).get("c")


def test_a_store_knows_its_length_and_members():
  shelf = Shelf({"a": regions()})
  assert len(shelf) == 1 and "a" in shelf and "b" not in shelf


def test_features_of_another_size_are_refused():
  shelf = Shelf({"a": regions(3), "b": regions(4)})
  shelf.get("a")
  with pytest.raises(errors.UserError, match="picture b: features of size 4, others have 3"):
    shelf.get("b")


def test_boxes_of_a_resized_picture_are_scaled_to_the_original():
  # Extracted at 50 x 40 pixels, the original has 100 x 40.
  scaled = Shelf({"a": regions()}, frame=(50, 40)).get("a", 100, 40)
  assert scaled.boxes_px.tolist() == [[0, 0, 20, 20]]


def test_boxes_stay_as_they_are_where_no_size_is_known():
  assert Shelf({"a": regions()}).get("a").boxes_px.tolist() == [[0, 0, 10, 20]]


def test_boxes_outside_the_given_picture_are_refused():
  with pytest.raises(errors.UserError, match="outside the picture of 5 x 5"):
    Shelf({"a": regions()}).get("a", 5, 5)


def test_load_array_names_a_missing_and_a_truncated_file(tmp_path):
  path = tmp_path / "a.npy"
  with pytest.raises(errors.UserError, match=r"boxes .*a\.npy does not exist"):
    region_store.load_array(path, "boxes")
  np.save(path, np.ones((4, 4)))
  path.write_bytes(path.read_bytes()[:-8])
  for mapped in (False, True):
    with pytest.raises(errors.UserError, match=r"a\.npy is not a whole \.npy array"):
      region_store.load_array(path, "boxes", mapped)


def test_load_array_does_not_unpickle(tmp_path):
  np.save(tmp_path / "a.npy", np.array([{"a": 1}], object))
  with pytest.raises(errors.UserError, match="not a whole"):
    region_store.load_array(tmp_path / "a.npy", "boxes")
