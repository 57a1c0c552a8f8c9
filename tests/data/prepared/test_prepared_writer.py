import collections
import dataclasses
import json

import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.prepared import prepared_writer
from tests.data import make_records


def test_the_description_counts_what_was_written(tmp_path):
  train = make_records.make_records(7, captions=(1, 5), regions=3)
  val = make_records.make_records(4, split="val", regions=6)
  info = make_records.write_folder(tmp_path / "out", {"val": val, "train": train}).info
  assert list(info["splits"]) == ["train", "val"]
  captions = [caption for record in train for caption in record.captions]
  assert info["splits"]["train"] == {
    "shards": 2,
    "pictures": 7,
    "captions": len(captions),
    "words": sum(len(caption.tokens) for caption in captions),
    "objects": 2 * len(captions),
  }
  assert info["max_regions"] == 6 and info["feature_size"] == 8 and info["has_boxes"]
  assert info["word_counts"] == collections.Counter(w for c in captions for w in c.tokens)
  assert info["region_labels"] == collections.Counter(
    label for record in train for label in record.regions.labels
  )
  lengths = info["caption_lengths"]["train"]
  assert [lengths[n] for n in (0, 6, 7)] == [
    sum(len(caption.tokens) == n for caption in captions) for n in (0, 6, 7)
  ]


def test_words_are_listed_in_order_of_first_appearance(tmp_path):
  train = make_records.make_records(5)
  info = make_records.write_folder(tmp_path / "out", {"train": train}).info
  seen = dict.fromkeys(w for record in train for c in record.captions for w in c.tokens)
  assert list(info["word_counts"]) == list(seen)


def test_hashes_are_those_of_the_files_and_nothing_else_is_left(tmp_path):
  data = make_records.prepare_small(tmp_path / "out")
  names = {path.name for path in data.folder.iterdir()} - {"dataset.json"}
  assert names == set(data.info["files"])
  for name, expected in data.info["files"].items():
    assert files.sha256(data.folder / name) == expected["sha256"]
    assert (data.folder / name).stat().st_size == expected["bytes"]


def test_the_same_records_give_the_same_bytes_whatever_the_order_of_work(tmp_path):
  items = make_records.make_records(6)
  options = {"dataset": "x", "command": "", "detector": {}, "lemma": str}
  for name, order in (("forth", (0, 1, 2)), ("back", (2, 0, 1))):
    (tmp_path / name).mkdir()
    summaries = [
      prepared_writer.write_shard(tmp_path / name, "train", n, 3, items[2 * n : 2 * n + 2])
      for n in order
    ]
    prepared_writer.finish(tmp_path / name, summaries, **options)
  for path in (tmp_path / "forth").iterdir():
    assert path.read_bytes() == (tmp_path / "back" / path.name).read_bytes(), path.name


def test_object_classes_are_those_that_captions_use_where_none_are_given(tmp_path):
  items = make_records.make_records(20)
  summary = prepared_writer.write_shard(tmp_path, "train", 0, 1, items)
  prepared_writer.finish(tmp_path, [summary], dataset="x", command="", detector={}, lemma=str)
  info = files.read_json(tmp_path / "dataset.json")
  counts = info["object_counts"]
  assert set(info["object_classes"]) == set(counts)
  assert [counts[name] for name in info["object_classes"]] == sorted(counts.values(), reverse=True)


def with_global_feature(record, change):
  feature = record.regions.features.mean(axis=0) + change
  return dataclasses.replace(
    record, regions=dataclasses.replace(record.regions, global_feature=feature)
  )


def test_the_folder_records_whether_every_global_feature_is_the_mean(tmp_path):
  plain = make_records.make_records(2)
  mean = [with_global_feature(record, 0.0) for record in plain]
  mixed = [mean[0], with_global_feature(plain[1], 0.5)]
  for name, items, is_mean in (("no", plain, False), ("mean", mean, True), ("own", mixed, False)):
    data = make_records.write_folder(tmp_path / name, {"train": items}, shards=2)
    assert data.global_is_mean == data.info["global_is_mean"] == is_mean, name


def test_a_summary_survives_json(tmp_path):
  summary = prepared_writer.write_shard(tmp_path, "train", 0, 1, make_records.make_records(3))
  stored = json.loads(json.dumps(summary.to_json()))
  assert prepared_writer.ShardSummary.from_json(stored) == summary
  empty = prepared_writer.ShardSummary("val", 0, 1)
  assert prepared_writer.ShardSummary.from_json(empty.to_json()) == empty


def test_a_picture_that_occurs_twice_is_refused(tmp_path):
  items = make_records.make_records(2)
  with pytest.raises(errors.UserError, match="occurs twice, in split train and in split val"):
    make_records.write_folder(tmp_path / "out", {"train": items, "val": items[:1]})


def test_an_empty_split_is_refused_by_name(tmp_path):
  tmp_path.joinpath("out").mkdir()
  summary = prepared_writer.write_shard(tmp_path / "out", "val", 0, 1, [])
  with pytest.raises(errors.UserError, match="split val is empty"):
    prepared_writer.finish(tmp_path / "out", [summary], dataset="", command="", detector={})


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ({"feature_size": 9}, "feature_size 8 -> 9"),
    ({"boxes": False}, "has_boxes True -> False"),
    ({"global_size": 2}, "global_size 0 -> 2"),
  ],
)
def test_regions_of_two_kinds_are_refused(tmp_path, options, message):
  first = make_records.make_records(1, seed=1)
  other = make_records.make_records(1, seed=2, **options)
  with pytest.raises(errors.UserError, match=message):
    make_records.write_folder(tmp_path / "a", {"train": first + other}, shards=1)
  with pytest.raises(errors.UserError, match=message):
    make_records.write_folder(tmp_path / "b", {"train": first + other}, shards=2)


def test_a_record_without_regions_is_refused(tmp_path):
  (record,) = make_records.make_records(1)
  with pytest.raises(errors.UserError, match=f"picture {record.image_id} .* has no regions"):
    prepared_writer.write_shard(
      tmp_path, "train", 0, 1, [dataclasses.replace(record, regions=None)]
    )


def test_a_picture_without_any_region_is_fine(tmp_path):
  items = make_records.make_records(2)
  none = records.Regions(np.zeros((0, 4), np.float32), np.zeros((0, 8), np.float32))
  items[0] = dataclasses.replace(items[0], regions=none)
  data = make_records.write_folder(tmp_path / "out", {"train": items})
  assert data.has_labels and data.split("train").regions.tolist() == [0, 4]
