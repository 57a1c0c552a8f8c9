import io

import numpy as np
import pytest
from PIL import Image

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.stores import detection_files
from serving import region_files, samples


def make(image_id="a/1", **regions):
  picture = io.BytesIO()
  Image.new("RGB", (20, 10), "red").save(picture, "PNG")
  boxes = np.array([[0, 0, 10, 10]], np.float32)
  return records.Record(
    image_id=image_id,
    split="test",
    width=20,
    height=10,
    captions=(),
    regions=records.Regions(boxes_px=boxes, **regions),
    picture=picture.getvalue(),
  )


def test_samples_are_listed_and_read_back_as_detections(tmp_path):
  record = make(labels=("dog",), features=np.array([[0.5, 1]], np.float32))
  assert samples.write(tmp_path, [record]) == 1
  (entry,) = files.read_json(tmp_path / "samples.json")
  assert entry == {"title": "Picture a/1", "detections": "a_1.json", "picture": "a_1.png"}
  found = region_files.from_detections(tmp_path / entry["detections"])
  np.testing.assert_allclose(found.boxes, [[0, 0, 0.5, 1]])
  np.testing.assert_allclose(found.features, [[0.5, 1]])
  assert found.labels == ("dog",)
  assert Image.open(tmp_path / entry["picture"]).size == (20, 10)


def test_record_without_boxes_is_refused(tmp_path):
  record = records.Record("5", "test", 10, 20, (), records.Regions(labels=("dog",)))
  with pytest.raises(errors.UserError, match="record 5 has no boxes"):
    samples.write(tmp_path, [record])


def test_drawn_scenes_are_samples_of_labelled_regions(tmp_path):
  assert samples.write_scenes(tmp_path, 2) == 2
  entries = files.read_json(tmp_path / "samples.json")
  for entry in entries:
    found = region_files.from_detections(tmp_path / entry["detections"])
    assert found.features is None and len(found.labels) == len(found.boxes) > 0
    assert found.boxes.min() >= 0 and found.boxes.max() <= 1 + 1e-6
    assert (tmp_path / entry["picture"]).exists()


def test_drawn_scenes_tell_nothing_of_their_captions():
  for record in samples.scene_records(4):
    annotated = {(thing.label, tuple(thing.box_px.tolist())) for thing in record.annotated}
    regions = record.regions
    for label, box in zip(regions.labels, regions.boxes_px.tolist(), strict=True):
      assert (label, tuple(box)) in annotated


def test_coco_detections_read_back_as_the_regions(tmp_path):
  pictures = list(samples.scene_records(2))
  files.write_json(tmp_path / "d.json", samples.coco_detections(pictures))
  store = detection_files.DetectionStore(tmp_path / "d.json")
  for picture in pictures:
    found = store.get(picture.image_id)
    assert found.labels == picture.regions.labels
    np.testing.assert_allclose(found.boxes_px, picture.regions.boxes_px, atol=0.2)
    assert store.size(picture.image_id) == (picture.width, picture.height)


def test_photographs_are_samples_without_detections(tmp_path):
  Image.new("RGB", (4, 4)).save(tmp_path / "a cat.PNG")
  assert samples.write_photographs(tmp_path / "out", {"A cat": tmp_path / "a cat.PNG"}) == 1
  assert files.read_json(tmp_path / "out" / "samples.json") == [
    {"title": "A cat", "picture": "a_cat.png"}
  ]
  assert (tmp_path / "out" / "a_cat.png").read_bytes() == (tmp_path / "a cat.PNG").read_bytes()
