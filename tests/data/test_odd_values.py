"""Values of foreign files that once ended a reader with a traceback: each is refused in words."""

import json

import h5py
import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data.readers import activitynet, coco, karpathy
from gcap_tf.data.stores import bottom_up, detection_files, numpy_objects, precomp_arrays
from gcap_tf.metrics import schema
from gcap_tf.text import vocabulary

BOX = {"image_id": 7, "bbox": [6, 4, 20, 30], "category": "dog"}
HUGE = 10**400


def put(path, value):
  path.parent.mkdir(parents=True, exist_ok=True)
  path.write_text(json.dumps(value))
  return path


@pytest.mark.parametrize(
  "value",
  [
    {"annotations": [{"image_id": 7, "bbox": [6, 4, 20, 30], "category_id": {}}]},
    [BOX | {"bbox": [HUGE, 4, 20, 30]}],
    [BOX | {"bbox": [1e300, 4, 20, 30]}],
    [BOX | {"score": HUGE}],
    [BOX | {"score": 1e300}],
    {"annotations": [BOX], "images": [{"id": 7, "width": HUGE, "height": 9}]},
  ],
)
def test_detections(tmp_path, value):
  with pytest.raises(errors.UserError, match=r"x\.json"):
    detection_files.DetectionStore(put(tmp_path / "x.json", value))


def test_detections_pass_over_odd_names(tmp_path):
  value = {
    "annotations": [BOX],
    "images": [{"id": 7, "width": 100, "height": 80, "file_name": [[]]}],
    "categories": [{"id": [[]], "name": "x"}],
  }
  store = detection_files.DetectionStore(put(tmp_path / "x.json", value))
  assert store.get("7").labels == ("dog",)


def test_numbers_of_thousands_of_digits(tmp_path):
  (tmp_path / "x.json").write_text("9" * 5000)
  with pytest.raises(errors.UserError, match="not valid JSON"):
    files.read_json(tmp_path / "x.json")


@pytest.mark.parametrize("change", [{"width": HUGE}, {"bbox": [HUGE, 1, 2, 3]}])
def test_coco(tmp_path, change):
  image = {"id": 7, "file_name": "7.jpg", "width": 100, "height": 80}
  box = {"id": 3, "image_id": 7, "category_id": 18, "bbox": [1, 2, 30, 40]}
  image |= {key: value for key, value in change.items() if key in image}
  box |= {key: value for key, value in change.items() if key in box}
  captions = {"images": [image], "annotations": [{"id": 1, "image_id": 7, "caption": "A dog."}]}
  instances = {"annotations": [box], "categories": [{"id": 18, "name": "dog"}]}
  put(tmp_path / "annotations" / "captions_val2017.json", captions)
  put(tmp_path / "annotations" / "instances_val2017.json", instances)
  with pytest.raises(errors.UserError, match="2017"):
    coco.COCO(tmp_path).record("7", "val")


@pytest.mark.parametrize(
  "change", [{"tokens": [1]}, {"tokens": 7}, {"filepath": []}, {"sentences": [7]}]
)
def test_karpathy(tmp_path, change):
  sentence = {"tokens": ["a"], "raw": "A.", "sentid": 1}
  sentence |= {key: value for key, value in change.items() if key == "tokens"}
  image = {"filename": "7.jpg", "split": "train", "sentences": [sentence]}
  image |= {key: value for key, value in change.items() if key != "tokens"}
  put(tmp_path / "dataset_x.json", {"images": [image]})
  with pytest.raises(errors.UserError, match="dataset_x"):
    karpathy.Karpathy(tmp_path).record("7", "train")


@pytest.mark.parametrize(
  ("annotations", "ids"),
  [({"v": []}, ["v"]), ({"v": {"segments": {"0": 7}}}, ["v"]), ({"v": {"segments": {}}}, [[]])],
)
def test_activitynet(tmp_path, annotations, ids):
  name = "anet_entities_cleaned_class_thresh50_trainval.json"
  put(tmp_path / name, {"annotations": annotations, "vocab": ["dog"]})
  put(tmp_path / "split_ids_anet_entities.json", {"training": ids})
  with pytest.raises(errors.UserError):
    activitynet.ActivityNetEntities(tmp_path).image_ids("train")


def test_tsv_counts_of_thousands_of_digits(tmp_path):
  (tmp_path / "x.tsv").write_text("\t".join(["7", "9" * 5000, "80", "0", "", ""]) + "\n")
  with pytest.raises(errors.UserError, match="expected a whole number"):
    bottom_up.BottomUpStore(tmp_path).size("7")


def test_hdf5_groups_are_no_arrays(tmp_path):
  with h5py.File(tmp_path / "x.h5", "w") as file:
    file.create_group("images")
  with pytest.raises(errors.UserError, match="of numbers"):
    precomp_arrays.open_dataset(tmp_path / "x.h5", "images")


def test_hdf5_names_that_are_no_text(tmp_path):
  with h5py.File(tmp_path / "x.h5", "w") as file:
    file.create_group(b"\xff\xfe")
  with pytest.raises(errors.UserError, match="of numbers"):
    precomp_arrays.open_dataset(tmp_path / "x.h5", "images")


def test_pickles_that_end_in_any_error(tmp_path):
  np.save(tmp_path / "x.npy", np.array([{"a": 1}], object))
  data = (tmp_path / "x.npy").read_bytes()
  for number in range(128, len(data), 7):
    (tmp_path / "x.npy").write_bytes(data[:number] + b"R" + data[number + 1 :])
    try:
      numpy_objects.load(tmp_path / "x.npy", "sizes")
    except errors.UserError as error:
      assert "cannot be read" in str(error)


@pytest.mark.parametrize(
  "value", [{"ix_to_word": {"1": ["x"]}}, {"word2idx": {"a": "9" * 5000}}, {"1": None}]
)
def test_vocabularies(value):
  with pytest.raises(errors.UserError, match=r"^x"):
    vocabulary.Vocabulary.from_json(value, "x")


@pytest.mark.parametrize("edge", [1e300, HUGE])
def test_boxes_beyond_any_picture(edge):
  with pytest.raises(errors.UserError, match="finite numbers"):
    schema.boxes({"bbox": [[0, 0, 1, edge]]}, "bbox", "x")
