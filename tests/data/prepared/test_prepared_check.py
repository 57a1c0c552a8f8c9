import dataclasses
import json

import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.prepared import prepared_check
from tests.data import make_records


@pytest.fixture
def data(tmp_path):
  return make_records.prepare_small(tmp_path / "out", captions=(2, 5))


def _seal(data, name):
  """Makes dataset.json agree with a changed file, so that only its content is wrong."""
  path = data.folder / name
  data.info["files"][name] = {"bytes": path.stat().st_size, "sha256": files.sha256(path)}
  files.write_json(data.folder / "dataset.json", data.info)


def test_a_whole_folder_has_no_faults_and_is_described(data):
  report = prepared_check.check(data.folder)
  assert report.faults == []
  text = report.text()
  train = report.splits["train"]
  assert f"train: 12 pictures, {train.captions:,} captions" in text
  assert "with boxes      100.0% of pictures" in text
  assert "regions         4.0 a picture (4 to 4)" in text
  assert "object words    2.00 a caption; 0.0% of captions have none" in text
  assert "within reach    100.0% of object words" in text
  assert "100.00% of words are in train" in text


def test_object_words_without_a_region_are_reported(tmp_path):
  items = []
  for record in make_records.make_records(3):
    # Regions 0 and 1 are the boxes of the two objects: leave only the first of them.
    kept = record.regions
    kept = dataclasses.replace(
      kept, boxes_px=kept.boxes_px[:1], features=kept.features[:1], labels=kept.labels[:1]
    )
    far = np.array([60, 40, 90, 49], np.float32)
    captions = tuple(
      dataclasses.replace(
        caption, objects=(caption.objects[0], dataclasses.replace(caption.objects[1], box_px=far))
      )
      for caption in record.captions
    )
    items.append(dataclasses.replace(record, regions=kept, captions=captions))
  data = make_records.write_folder(tmp_path / "out", {"train": items})
  report = prepared_check.check(data.folder)
  assert report.splits["train"].reachable * 2 == report.splits["train"].objects
  assert "within reach    50.0% of object words" in report.text()


def test_data_without_boxes_says_so(tmp_path):
  data = make_records.prepare_small(tmp_path / "out", boxes=False)
  assert "WITHOUT BOXES" in prepared_check.check(data.folder).text()


def test_every_damaged_record_is_listed_with_its_shard(data):
  for name in ("train-00000-of-00002.tfrecord", "val-00001-of-00002.tfrecord"):
    content = bytearray((data.folder / name).read_bytes())
    content[30] ^= 4
    (data.folder / name).write_bytes(content)
  faults = prepared_check.check(data.folder).faults
  assert len(faults) == 4
  assert "train-00000-of-00002.tfrecord is not the file that was written" in faults[0]
  assert "val-00001-of-00002.tfrecord is not the file that was written" in faults[1]
  assert "train-00000-of-00002.tfrecord: record 0 at byte 0 is damaged" in faults[2]
  assert "val-00001-of-00002.tfrecord: record 0 at byte 0 is damaged" in faults[3]


def test_a_changed_reference_file_is_listed(data):
  path = data.folder / "references_val.json"
  path.write_text(path.read_text().replace("100", "101", 1))
  (fault,) = prepared_check.check(data.folder).faults
  assert "references_val.json is not the file that was written" in fault


def test_a_truncated_file_is_refused_at_once(data):
  path = data.folder / "captions_val.json"
  path.write_text(path.read_text()[:-2])
  with pytest.raises(errors.UserError, match=r"captions_val\.json has"):
    prepared_check.check(data.folder)


@pytest.mark.parametrize(
  ("change", "message"),
  [
    (lambda r: dataclasses.replace(r, features=np.full((4, 8), np.nan, np.float32)), "finite"),
    (lambda r: dataclasses.replace(r, labels=r.labels[:3]), "4 features, 3 labels"),
    (lambda r: dataclasses.replace(r, boxes_px=r.boxes_px + 500), "outside the picture"),
  ],
)
def test_a_record_that_is_no_good_is_named(tmp_path, change, message):
  items = make_records.make_records(5)
  items[3] = dataclasses.replace(items[3], regions=change(items[3].regions))
  data = make_records.write_folder(tmp_path / "out", {"train": items})
  (fault,) = prepared_check.check(data.folder).faults
  assert f"picture {items[3].image_id}" in fault and message in fault


def test_an_index_with_other_counts_is_found(data):
  path = data.folder / "index_train.npz"
  arrays = dict(np.load(path))
  arrays["regions"][2] += 1
  np.savez(path, **arrays)
  _seal(data, path.name)
  (fault,) = prepared_check.check(data.folder).faults
  assert "index_train.npz" in fault and str(arrays["image_ids"][2]) in fault


@pytest.mark.parametrize("key", ["word_counts", "region_labels"])
def test_counts_that_differ_from_the_records_are_found(data, key):
  data.info[key]["zebra"] = 3
  (data.folder / "dataset.json").write_text(json.dumps(data.info))
  (fault,) = prepared_check.check(data.folder).faults
  assert f"{key} differ" in fault


def test_a_folder_full_of_faults_is_given_up(tmp_path):
  items = [
    dataclasses.replace(record, captions=(records.Caption("1", "", ("A", "b")),))
    for record in make_records.make_records(30)
  ]
  data = make_records.write_folder(tmp_path / "out", {"train": items})
  with pytest.raises(errors.UserError, match=r"20 faults, giving up; the first: .*token 'A'"):
    prepared_check.check(data.folder)
