import collections
import concurrent.futures
import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from tests.data import make_records


@pytest.fixture
def data(tmp_path):
  return make_records.prepare_small(tmp_path / "out")


def test_records_are_read_in_any_order_from_many_threads(data):
  split = data.split("train")
  expected = make_records.make_records(12)
  order = list(np.random.default_rng(0).permutation(12)) * 3
  with concurrent.futures.ThreadPoolExecutor(4) as pool:
    found = list(pool.map(split.record, order))
  for position, record in zip(order, found, strict=True):
    assert record.image_id == expected[position].image_id
    np.testing.assert_array_equal(record.regions.features, expected[position].regions.features)


def test_the_index_counts_captions_words_and_regions(tmp_path):
  items = make_records.make_records(9, captions=(1, 2, 5))
  split = make_records.write_folder(tmp_path / "out", {"train": items}).split("train")
  assert len(split) == 9
  assert split.image_ids.tolist() == [record.image_id for record in items]
  assert split.captions.tolist() == [len(record.captions) for record in items]
  assert split.regions.tolist() == [4] * 9
  words = [len(caption.tokens) for record in items for caption in record.captions]
  assert split.words.tolist() == words
  assert split.max_words == max(words)
  for position, record in enumerate(items):
    start = split.caption_starts[position]
    assert split.words[start] == len(record.captions[0].tokens)
    assert split.caption_pictures[start] == position


@pytest.mark.parametrize(("size", "is_mean"), [(0, False), (8, True), (3, False)])
def test_folders_of_earlier_versions_take_a_global_feature_of_equal_size_as_the_mean(
  tmp_path, size, is_mean
):
  items = make_records.make_records(2, global_size=size)
  data = make_records.write_folder(tmp_path / "out", {"train": items})
  del data.info["global_is_mean"]
  (data.folder / "dataset.json").write_text(json.dumps(data.info))
  assert prepared_data.PreparedData(data.folder).global_is_mean == is_mean


def test_closing_only_closes_files(data):
  split = data.split("train")
  split.record(0)
  split.close()
  assert split.record(0).image_id == split.image_ids[0]


def test_the_vocabulary_needs_no_shards(data):
  for path in data.folder.glob("*.tfrecord"):
    path.write_bytes(b"")
  vocabulary = data.build_vocabulary("captioner", 20)
  counts = data.info["word_counts"]
  assert vocabulary.words[1:-1] == tuple(word for word, n in counts.items() if n >= 20)
  labels = data.info["region_labels"]
  assert [labels[name] for name in vocabulary.labels] == sorted(labels.values(), reverse=True)


def test_the_vocabulary_of_published_programs_counts_other_splits_too(data):
  spoken = collections.Counter(data.split("val").tokens())
  counts = data.info["word_counts"]
  word = min(spoken, key=lambda each: counts[each])  # Others are left in every vocabulary.
  count, more = counts[word], spoken[word]
  for counted, kept in (("train", False), ("train_val", True), ("all", True)):
    words = data.build_vocabulary("captioner", count + 1, counted).words
    assert (word in words) == kept
    assert word not in data.build_vocabulary("captioner", count + more + 1, counted).words


def test_no_train_split_means_no_vocabulary(tmp_path):
  items = make_records.make_records(2, split="test")
  data = make_records.write_folder(tmp_path / "out", {"test": items})
  with pytest.raises(errors.UserError, match="no train split to build a vocabulary from"):
    data.build_vocabulary("matcher", 1)


def test_an_unknown_split_lists_those_there_are(data):
  with pytest.raises(errors.UserError, match='has no split "test"; it has train, val'):
    data.split("test")


def test_a_folder_of_something_else_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match=r"no dataset\.json"):
    prepared_data.PreparedData(tmp_path)
  (tmp_path / "dataset.json").write_text("{}")
  with pytest.raises(errors.UserError, match="does not describe prepared data"):
    prepared_data.PreparedData(tmp_path)


def test_another_format_version_says_how_to_prepare_again(data):
  path = data.folder / "dataset.json"
  path.write_text(json.dumps({**data.info, "version": 99}))
  with pytest.raises(errors.UserError, match=r"version 99, this program reads version 1.*tests"):
    prepared_data.PreparedData(data.folder)


def test_a_missing_shard_is_named(data):
  (data.folder / "train-00001-of-00002.tfrecord").unlink()
  with pytest.raises(errors.UserError, match=r"train-00001-of-00002\.tfrecord is missing"):
    prepared_data.PreparedData(data.folder)


def test_a_shard_that_goes_missing_later_is_named(data):
  split = data.split("train")
  (data.folder / "train-00001-of-00002.tfrecord").unlink()
  with pytest.raises(errors.UserError, match=r"train-00001-of-00002\.tfrecord is missing"):
    split.record(11)


def test_a_truncated_shard_is_named(data):
  path = data.folder / "val-00000-of-00002.tfrecord"
  path.write_bytes(path.read_bytes()[:-1])
  with pytest.raises(errors.UserError, match=r"val-00000-of-00002\.tfrecord has \d+ bytes"):
    prepared_data.PreparedData(data.folder)


def test_a_flipped_byte_names_shard_and_record(data):
  path = data.folder / "train-00001-of-00002.tfrecord"
  split = data.split("train")
  content = bytearray(path.read_bytes())
  content[-10] ^= 1
  path.write_bytes(content)
  assert split.record(6).image_id == split.image_ids[6]
  with pytest.raises(errors.UserError, match=r"train-00001-of-00002\.tfrecord: record 5 at byte"):
    split.record(11)


def test_an_index_of_other_data_is_refused(data, tmp_path):
  other = make_records.prepare_small(tmp_path / "other", seed=3)
  (data.folder / "index_train.npz").write_bytes((other.folder / "index_train.npz").read_bytes())
  with pytest.raises(errors.UserError, match=r"index_train\.npz"):
    data.split("train").record(0)


def test_an_index_with_other_counts_is_refused(data, tmp_path):
  other = make_records.prepare_small(tmp_path / "other", train=13)
  (data.folder / "index_train.npz").write_bytes((other.folder / "index_train.npz").read_bytes())
  with pytest.raises(errors.UserError, match=r"lists 13 pictures, dataset\.json says 12"):
    data.split("train")


def test_a_broken_index_is_refused(data):
  (data.folder / "index_train.npz").write_bytes(b"PK but not really")
  with pytest.raises(errors.UserError, match=r"index_train\.npz cannot be read"):
    data.split("train")


def test_a_slow_shard_is_named_and_read_all_the_same(data, monkeypatch, capsys):
  monkeypatch.setattr(prepared_data, "SLOW_READ_SECONDS", -1.0)
  assert data.split("train").record(0).image_id == data.split("train").image_ids[0]
  assert "train-00000-of-00002.tfrecord: record 0 took" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["references", "captions"])
def test_changed_references_and_captions_are_refused_although_their_size_fits(tmp_path, name):
  data = make_records.prepare_small(tmp_path / "data")
  path = data.folder / f"{name}_val.json"
  assert getattr(data, f"{name}_path")("val") == path
  text = path.read_text()
  path.write_text(text.replace("cat", "bat", 1) if "cat" in text else text.replace("dog", "fog", 1))
  with pytest.raises(errors.UserError, match=f"{name}_val.json is damaged"):
    getattr(data, f"{name}_path")("val")
