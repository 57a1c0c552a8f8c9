import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data import records
from serving import region_files
from tests.data import make_records


def test_detections_in_pixels_are_scaled(tmp_path):
  files.write_json(
    tmp_path / "d.json",
    {"width": 200, "height": 100, "regions": [{"box": [20, 10, 100, 50], "label": "dog"}]},
  )
  found = region_files.from_detections(tmp_path / "d.json")
  np.testing.assert_allclose(found.boxes, [[0.1, 0.1, 0.5, 0.5]], rtol=1e-6)
  assert found.labels == ("dog",)
  assert found.features is None


def test_detections_without_a_size_go_from_zero_to_one(tmp_path):
  path = tmp_path / "d.json"
  files.write_json(path, {"regions": [{"box": [0, 0, 0.5, 1], "feature": [1, 2]}]})
  found = region_files.from_detections(path)
  np.testing.assert_allclose(found.boxes, [[0, 0, 0.5, 1]])
  np.testing.assert_allclose(found.features, [[1, 2]])


def test_no_detections_are_no_regions(tmp_path):
  files.write_json(tmp_path / "d.json", {"regions": []})
  assert region_files.from_detections(tmp_path / "d.json").boxes.shape == (0, 4)


@pytest.mark.parametrize(
  ("content", "message"),
  [
    ([], "holds no detections"),
    ({"boxes": []}, 'a list "regions"'),
    ({"regions": [{"label": "dog"}]}, 'regions have no "box"'),
    ({"regions": [{"box": [1, 2, 3]}]}, 'every "box" must be 4 numbers'),
    ({"regions": [{"box": ["a", 2, 3, 4]}]}, 'every "box" must be 4 numbers'),
    ({"regions": [{"box": [0, 0, 90, 90]}]}, "boxes are in pixels"),
    ({"width": 0, "height": 5, "regions": [{"box": [0, 0, 1, 1]}]}, "must be numbers above 0"),
    (
      {"regions": [{"box": [0, 0, 1, 1], "label": "a"}, {"box": [0, 0, 1, 1]}]},
      'some regions have "label" and others do not',
    ),
  ],
)
def test_wrong_detections_are_named(tmp_path, content, message):
  files.write_json(tmp_path / "d.json", content)
  with pytest.raises(errors.UserError, match=message):
    region_files.from_detections(tmp_path / "d.json")


def test_coco_detections_are_read_for_the_asked_picture(tmp_path):
  rows = [
    {"image_id": 1, "bbox": [20, 10, 80, 40], "category": "dog", "score": 0.9},
    {"image_id": 1, "bbox": [0, 0, 5, 5], "category": "cat", "score": 0.1},
    {"image_id": 2, "bbox": [0, 0, 50, 50], "category": "man"},
  ]
  path = tmp_path / "d.json"
  files.write_json(path, rows)
  found = region_files.from_detections(path, "1", (200, 100))
  np.testing.assert_allclose(found.boxes, [[0.1, 0.1, 0.5, 0.5]], rtol=1e-6)
  assert found.labels == ("dog",)
  # Without a size the boxes reach to the edges.
  np.testing.assert_allclose(region_files.from_detections(path, "2").boxes, [[0, 0, 1, 1]])
  with pytest.raises(errors.UserError, match=r"has 2 pictures, such as 1, 2; choose one"):
    region_files.from_detections(path)
  with pytest.raises(errors.UserError, match="no regions of picture 5"):
    region_files.from_detections(path, "5")


def test_picture_of_a_coco_file_is_found_by_the_name_of_its_own_file(tmp_path):
  rows = [
    {"image_id": 1, "bbox": [0, 0, 50, 50], "category": "dog"},
    {"image_id": 2, "bbox": [0, 0, 50, 50], "category": "man"},
  ]
  path = tmp_path / "d.json"
  files.write_json(path, rows)
  assert region_files.from_detections(path, picture_name="0002.jpg").labels == ("man",)
  files.write_json(path, {"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": rows})
  assert region_files.from_detections(path, picture_name="a.jpg").labels == ("dog",)


def write_features(folder, boxes=True):
  for name in ("att", "box"):
    (folder / name).mkdir()
  np.savez(folder / "att" / "7.npz", feat=np.ones((2, 3), np.float32))
  if boxes:
    np.save(folder / "box" / "7.npy", np.array([[0, 0, 50, 50], [50, 0, 100, 100]], np.float32))


def test_feature_folder_gives_features_and_scaled_boxes(tmp_path):
  write_features(tmp_path)
  found = region_files.from_folder(tmp_path, "7", (100, 200))
  np.testing.assert_allclose(found.boxes, [[0, 0, 0.5, 0.25], [0.5, 0, 1, 0.5]])
  assert found.features.shape == (2, 3)
  with pytest.raises(errors.UserError, match="no regions of picture 8"):
    region_files.from_folder(tmp_path, "8", (100, 200))
  with pytest.raises(errors.UserError, match="boxes are in pixels"):
    region_files.from_folder(tmp_path, "7", None)


def test_record_gives_its_regions_and_picture():
  record = records.Record(
    image_id="5",
    split="test",
    width=10,
    height=20,
    captions=(),
    regions=records.Regions(boxes_px=np.array([[0, 0, 5, 5]], np.float32), labels=("dog",)),
    picture=b"png",
  )
  found = region_files.from_record(record)
  np.testing.assert_allclose(found.boxes, [[0, 0, 0.5, 0.25]])
  assert (found.labels, found.picture, found.features) == (("dog",), b"png", None)


def test_record_without_boxes_is_refused():
  record = records.Record("5", "test", 10, 20, (), records.Regions(labels=("dog",)))
  with pytest.raises(errors.UserError, match="record 5 has no boxes"):
    region_files.from_record(record)


def test_prepared_folder_gives_the_asked_record(tmp_path):
  items = make_records.make_records(3, split="test", feature_size=8)
  folder = make_records.write_folder(tmp_path / "out", {"test": items}).folder
  wanted = items[1]
  found = region_files.from_prepared(folder, "test", wanted.image_id)
  scale = np.array([wanted.width, wanted.height] * 2)
  np.testing.assert_allclose(found.boxes * scale, wanted.regions.boxes_px, rtol=1e-5)
  np.testing.assert_allclose(found.features, wanted.regions.features, rtol=1e-5)
  assert found.labels == wanted.regions.labels
  assert len(region_files.from_prepared(folder, "test", "").boxes)
  with pytest.raises(errors.UserError, match='split test has no picture "nobody"'):
    region_files.from_prepared(folder, "test", "nobody")


def test_box_a_little_outside_the_picture_is_clipped(tmp_path):
  regions = [{"box": [-1, 0, 100, 50.5]}]
  files.write_json(tmp_path / "d.json", {"width": 100, "height": 50, "regions": regions})
  assert region_files.from_detections(tmp_path / "d.json").boxes.tolist() == [[0, 0, 1, 1]]


def test_boxes_of_a_picture_of_another_shape_are_refused(tmp_path):
  path = tmp_path / "d.json"
  region = {"box": [20, 10, 100, 50], "label": "dog"}
  files.write_json(path, {"width": 200, "height": 100, "regions": [region]})
  scaled = region_files.from_detections(path, size=(400, 201))  # The same picture, twice as large.
  np.testing.assert_allclose(scaled.boxes, [[0.1, 0.1, 0.5, 0.5]], rtol=1e-6)
  with pytest.raises(errors.UserError, match="200 x 100, but the picture has 100 x 200"):
    region_files.from_detections(path, size=(100, 200))
  coco = {
    "images": [{"id": 1, "width": 200, "height": 100}],
    "annotations": [{"image_id": 1, "bbox": [20, 10, 80, 40], "category": "dog", "score": 0.5}],
  }
  files.write_json(path, coco)
  region_files.from_detections(path, size=(100, 50))
  with pytest.raises(errors.UserError, match="but the picture has 100 x 200"):
    region_files.from_detections(path, size=(100, 200))


@pytest.mark.parametrize("width", [0, -5, "200", None, True])
def test_sizes_that_are_no_sizes_are_refused(tmp_path, width):
  files.write_json(tmp_path / "d.json", {"width": width, "height": 100, "regions": []})
  with pytest.raises(errors.UserError, match='"width" and "height" must be numbers above 0'):
    region_files.from_detections(tmp_path / "d.json")
