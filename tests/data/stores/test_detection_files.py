"""Tests of gcap_tf/data/stores/detection_files.py."""

import logging
import os
import pathlib

import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data.stores import detection_files


def store(tmp_path, value, **options):
  files.write_json(tmp_path / "detections.json", value)
  return detection_files.DetectionStore(tmp_path / "detections.json", **options)


def dog(**more):
  return {"image_id": 7, "bbox": [10, 20, 30, 40], "category": "dog", **more}


def test_a_list_is_grouped_by_picture_with_corners_in_pixels(tmp_path):
  other = {"image_id": "b", "bbox": [0, 0, 5, 5], "label": "cat"}
  found = store(tmp_path, [dog(score=0.9), other, dog(category="man")], image_size=(100, 80))
  assert found.ids() == ("7", "b")
  regions = found.get("7")
  np.testing.assert_array_equal(regions.boxes_px, [[10, 20, 40, 60]] * 2)
  assert regions.labels == ("dog", "man") and regions.features is None
  assert found.size("7") == (100, 80)
  assert found.names == ["dog", "man", "cat"]


def test_scores_below_the_least_are_dropped_and_those_without_stay(tmp_path):
  rows = [dog(score=0.29), dog(score=0.3, category="cat"), dog(category="man")]
  assert store(tmp_path, rows).get("7").labels == ("cat", "man")
  assert store(tmp_path, rows, min_score=0.0).get("7").labels == ("dog", "cat", "man")


def test_cocos_own_form_brings_sizes_and_category_names(tmp_path):
  value = {
    "images": [{"id": 7, "width": 200, "height": 100}, {"id": 8, "width": 50, "height": 40}],
    "categories": [{"id": 3, "name": "traffic light"}],
    "annotations": [{"image_id": 7, "bbox": [0, 0, 9, 9], "category_id": 3}],
  }
  found = store(tmp_path, value)
  assert found.size("7") == (200, 100)
  assert found.get("7").labels == ("traffic light",)
  # A picture in which nothing was found is one region without a label.
  np.testing.assert_array_equal(found.get("8").boxes_px, [[0, 0, 50, 40]])
  assert found.get("8").labels == ("",)


def test_a_picture_is_found_by_the_name_of_its_file(tmp_path, caplog):
  value = {
    "images": [{"id": 7, "file_name": "dog.jpg"}, {"id": 8}],
    "annotations": [dog(), dog(image_id=8, bbox=[500, 0, 9, 9])],
  }
  with caplog.at_level(logging.INFO):
    found = store(tmp_path, value, picture="dog.jpg", image_size=(100, 80))
  assert found.get("7").labels == ("dog",)
  assert "dropped" not in caplog.text, "what is said is about that picture alone"
  names = ("dog.jpg", "0008.png", "8", "9.png", "")
  assert [found.of_file(name) for name in names] == ["7", "8", "8", None, None]


def test_ids_without_categories_are_cocos(tmp_path):
  row = {"image_id": 1, "bbox": [0, 0, 9, 9], "category_id": 90, "score": 0.8}
  assert store(tmp_path, [row]).get("1").labels == ("toothbrush",)


def test_boxes_are_cut_at_the_edge_and_empty_ones_dropped(tmp_path):
  rows = [dog(bbox=[-5, 20, 30, 90]), dog(bbox=[10, 10, 0, 5]), dog(bbox=[120, 10, 9, 9])]
  found = store(tmp_path, rows, image_size=(100, 80))
  np.testing.assert_array_equal(found.get("7").boxes_px, [[0, 20, 25, 80]])


def test_an_unknown_size_is_logged_as_a_guess(tmp_path, caplog):
  with caplog.at_level(logging.WARNING, "absl"):
    found = store(tmp_path, [dog()])
  assert found.size("7") == (0, 0)
  assert "no size of 1 of 1 pictures" in caplog.text and "--image_size" in caplog.text


@pytest.mark.parametrize(
  ("value", "message"),
  [
    ({"regions": []}, 'expected a list of detections, or an object with a list "annotations"'),
    (["dog"], "detections must be a list of objects"),
    ([], "holds no detections"),
    ([{"bbox": [0, 0, 1, 1], "label": "dog"}], 'detection 0 has no "image_id"'),
    ([dog(), dog(bbox=[1, 2, 3])], r'detection 1 needs a "bbox".*found \[1, 2, 3\]'),
    ([dog(bbox="here")], 'needs a "bbox" of four numbers'),
    ([dog(score="high")], "has the \"score\" 'high'"),
    ([{"image_id": 7, "bbox": [0, 0, 1, 1]}], 'neither "category" nor "label" nor "category_id"'),
    ([{"image_id": 7, "bbox": [0, 0, 1, 1], "category_id": 12}], "no category has the id 12"),
    ({"images": [{"width": 4}], "annotations": []}, 'an entry of "images" has no "id"'),
    ({"images": [{"id": 4, "width": -1}], "annotations": []}, "picture 4 has the size"),
  ],
)
def test_what_is_wrong_is_named(tmp_path, value, message):
  with pytest.raises(errors.UserError, match=message):
    store(tmp_path, value)


@pytest.mark.skipif("GCAP_DATA" not in os.environ, reason="GCAP_DATA is not set")
def test_real_annotations_are_read_whole():
  folder = pathlib.Path(os.environ["GCAP_DATA"]) / "tiny_coco" / "annotations"
  found = detection_files.DetectionStore(folder / "instances_train2017.json")
  assert len(found) == 50 and len(found.names) == 470
  for image_id in found.ids():
    assert found.get(image_id).count > 0 and all(found.size(image_id))
