import os
import pathlib
import pickle

import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data import validation
from gcap_tf.data.readers import coco
from gcap_tf.text import object_words

CAPTIONS = {
  "images": [
    {"id": 7, "file_name": "7.jpg", "width": 100, "height": 50},
    {"id": 8, "file_name": "8.jpg", "width": 60, "height": 60},
  ],
  "annotations": [
    {"id": 1, "image_id": 7, "caption": "Two dogs watch a traffic light."},
    {"id": 2, "image_id": 8, "caption": "A cat naps "},
    {"id": 3, "image_id": 7, "caption": "The light turns red"},
  ],
}
INSTANCES = {
  "categories": [
    {"id": 4, "name": "dog"},
    {"id": 5, "name": "traffic light"},
    {"id": 6, "name": "cat"},
  ],
  "annotations": [
    {"id": 11, "image_id": 7, "category_id": 4, "bbox": [10, 10, 20, 20], "iscrowd": 0},
    {"id": 12, "image_id": 7, "category_id": 4, "bbox": [60, 5, 30, 40], "iscrowd": 1},
    {"id": 13, "image_id": 7, "category_id": 5, "bbox": [90, 0, 10.5, 9], "iscrowd": 0},
  ],
}


def make(folder, captions=CAPTIONS, instances=INSTANCES):
  files.write_json(folder / "annotations" / "captions_train2017.json", captions)
  if instances is not None:
    files.write_json(folder / "annotations" / "instances_train2017.json", instances)
  return folder


def read(folder, **options):
  splits, most = options.pop("splits", None), options.pop("max_images", None)
  found = list(coco.COCO(folder, **options).read(splits, most, progress=False))
  for record in found:
    validation.check_record(record, "made")
  return found


def test_boxes_are_corners_with_category_names(tmp_path):
  first, second = read(make(tmp_path))
  assert (first.image_id, first.split, first.width, first.height) == ("7", "train", 100, 50)
  assert [(thing.label, thing.box_px.tolist()) for thing in first.annotated] == [
    ("dog", [10, 10, 30, 30]),
    ("dog", [60, 5, 90, 45]),
    ("traffic light", [90, 0, 100, 9]),  # Cut at the picture's edge.
  ]
  assert second.annotated == ()


@pytest.mark.parametrize(
  ("merge", "expected"),
  [("union", [10, 5, 90, 45]), ("first", [10, 10, 30, 30]), ("largest", [60, 5, 90, 45])],
)
def test_words_that_name_a_category_get_its_instances(tmp_path, merge, expected):
  caption = read(make(tmp_path), merge=merge)[0].captions[0]
  assert [(word.index, word.name) for word in caption.objects] == [(1, "dog"), (5, "traffic light")]
  assert caption.objects[0].box_px.tolist() == expected


def test_the_last_word_of_a_category_names_it(tmp_path):
  caption = read(make(tmp_path))[0].captions[1]
  assert [(word.index, word.name) for word in caption.objects] == [(1, "traffic light")]


def test_a_word_whose_category_has_no_box_is_no_object_word(tmp_path):
  assert read(make(tmp_path))[1].captions[0].objects == ()


def test_crowds_can_be_dropped(tmp_path):
  record = read(make(tmp_path), crowds="drop")[0]
  assert [thing.entity for thing in record.annotated] == ["11", "13"]
  assert record.captions[0].objects[0].box_px.tolist() == [10, 10, 30, 30]


def test_a_class_list_renames_and_leaves_out_words(tmp_path):
  classes = object_words.ObjectClasses(["light"])
  caption = read(make(tmp_path), classes=classes)[0].captions[0]
  assert [(word.index, word.name) for word in caption.objects] == [(5, "light")]


def test_captions_alone_are_enough(tmp_path):
  record = read(make(tmp_path, instances=None))[0]
  assert record.annotated == () and record.captions[0].objects == ()


def test_boxes_without_area_are_left_out(tmp_path):
  flat = {"id": 14, "image_id": 8, "category_id": 6, "bbox": [5, 5, 9, 0]}
  instances = {**INSTANCES, "annotations": [*INSTANCES["annotations"], flat]}
  assert read(make(tmp_path, instances=instances))[1].annotated == ()


def test_pictures_next_to_the_annotations_are_found(tmp_path):
  (tmp_path / "train2017").mkdir()
  (tmp_path / "train2017" / "8.jpg").touch()
  paths = [record.picture_path for record in read(make(tmp_path))]
  assert paths == ["", str(tmp_path / "train2017" / "8.jpg")]


def test_a_reader_pickles(tmp_path):
  source = coco.COCO(make(tmp_path))
  source.record("7", "train")
  assert pickle.loads(pickle.dumps(source)).record("8", "train").captions[0].text == "A cat naps"


def changed(section, number, **values):
  content = {**(CAPTIONS if section == "captions" else INSTANCES)}
  content["annotations"] = [dict(entry) for entry in content["annotations"]]
  content["annotations"][number].update(values)
  return {section: content}


@pytest.mark.parametrize(
  ("change", "message"),
  [
    (changed("instances", 0, bbox=[300, 1, 5, 5]), "instance 11 .*outside its picture of 100 x 50"),
    (changed("instances", 0, bbox=[1, 2]), r"instance 11 has bbox \[1, 2\]; expected"),
    (changed("instances", 0, category_id=99), "instance 11 has category 99"),
    (changed("captions", 1, image_id=99), "caption 2 is of picture 99, which is not listed"),
    (changed("captions", 1, caption=" . "), "caption 2 has no words"),
    (changed("captions", 1, image_id=7), "picture 8 has no caption"),
    (changed("captions", 1, caption=None), r'annotations\[1\]: "caption" is None'),
    ({"captions": {"images": []}}, 'no list "annotations"'),
    ({"captions": {"images": [{"id": 7}]}}, r'images\[0\]: "file_name" is missing'),
  ],
)
def test_faults_are_named(tmp_path, change, message):
  with pytest.raises(errors.UserError, match=message):
    read(make(tmp_path, **change))


def test_two_files_of_one_split_are_refused(tmp_path):
  make(tmp_path)
  files.write_json(tmp_path / "annotations" / "captions_train2014.json", CAPTIONS)
  with pytest.raises(errors.UserError, match="are both the split train"):
    read(tmp_path)


def test_a_folder_without_captions_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match=r"no annotations/captions_"):
    read(tmp_path)


def test_distributed_pictures_captions_and_boxes_all_come_through():
  if not os.environ.get("GCAP_DATA"):
    pytest.skip("GCAP_DATA is not set: the dataset's own files are read where they are")
  folder = pathlib.Path(os.environ["GCAP_DATA"]) / "tiny_coco"
  if not folder.is_dir():
    pytest.skip("GCAP_DATA holds no tiny_coco")
  found = read(folder)
  content = files.read_json(folder / "annotations" / "instances_train2017.json")
  assert len(found) == len(content["images"]) == 50
  assert sum(len(record.captions) for record in found) == 250
  assert sum(len(record.annotated) for record in found) == len(content["annotations"]) == 470
  assert all(pathlib.Path(record.picture_path).is_file() for record in found)
  words = [word for record in found for caption in record.captions for word in caption.objects]
  assert len(words) > 100
  instance = content["annotations"][0]
  record = next(record for record in found if record.image_id == str(instance["image_id"]))
  x, y, width, height = instance["bbox"]
  thing = next(thing for thing in record.annotated if thing.entity == str(instance["id"]))
  np.testing.assert_allclose(thing.box_px, [x, y, x + width, y + height], atol=1e-3)
