import json

import pytest

from gcap_tf import errors
from gcap_tf.metrics import coco_io


def written(tmp_path, value):
  path = tmp_path / "file.json"
  path.write_text(json.dumps(value))
  return path


def test_references_gather_by_picture_with_ids_as_strings(tmp_path):
  rows = [
    {"id": 1, "image_id": 7, "caption": "a dog"},
    {"id": 2, "image_id": "x8", "caption": "a cat"},
    {"id": 3, "image_id": 7, "caption": "the dog"},
  ]
  path = written(tmp_path, {"images": [], "annotations": rows})
  assert coco_io.read_references(path) == {"7": ["a dog", "the dog"], "x8": ["a cat"]}


def test_whole_numbers_are_written_as_numbers(tmp_path):
  path = tmp_path / "results.json"
  captions = {"7": "a dog", "007": "a cat", "x": "é"}
  coco_io.write_results(path, captions)
  assert json.loads(path.read_text())[0] == {"image_id": 7, "caption": "a dog"}
  found = {str(row["image_id"]): row["caption"] for row in json.loads(path.read_text())}
  assert found == captions


@pytest.mark.parametrize(
  "read, value, message",
  [
    (coco_io.read_references, [], 'no list under "annotations"'),
    (coco_io.read_references, {"annotations": [{"image_id": 1}]}, "annotation 0: no text under"),
  ],
)
def test_broken_files_are_named(tmp_path, read, value, message):
  with pytest.raises(errors.UserError) as error:
    read(written(tmp_path, value))
  assert message in str(error.value) and "file.json" in str(error.value)
