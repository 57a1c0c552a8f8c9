"""Tests of gcap_tf/evaluation/region_captioning.py."""

import dataclasses

import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data.stores import detection_files, store_formats
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import region_captioning
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary
from tests.training import small_runs

RNG = np.random.default_rng(5)


def write_store(folder, counts=(3, 5, 2), size=4):
  for name in ("att", "fc", "box"):
    (folder / name).mkdir(parents=True)
  for number, count in enumerate(counts):
    features = RNG.normal(size=(count, size)).astype(np.float32)
    corners = np.sort(RNG.uniform(0, 200, (count, 2, 2)), axis=1) + [[[0, 0]], [[5, 5]]][0]
    corners[:, 1] += 5
    np.savez(folder / "att" / f"{number}.npz", feat=features)
    np.save(folder / "fc" / f"{number}.npy", features.mean(0))
    np.save(folder / "box" / f"{number}.npy", corners.reshape(count, 4).astype(np.float32))
  return folder


@pytest.fixture
def run(tmp_path):
  words = vocabulary.Vocabulary.build([["a", "dog", "sees", "men"]], "captioner", 1)
  options = {**small_runs.CAPTIONER_SIZES, "vocabulary_size": words.size, "feature_size": 4}
  model = run_folders.make_model("captioner", "updown", options)
  run_folders.save(tmp_path / "run", "captioner", "updown", model, words)
  return run_folders.load(tmp_path / "run")


def test_rows_name_the_region_and_the_box_of_each_word(tmp_path, run):
  store = store_formats.open_store(write_store(tmp_path / "store"))
  config = decode_config.DecodeConfig(min_length=2, max_length=5)
  rows = list(region_captioning.caption_store(run, store, config))
  assert [row["image_id"] for row in rows] == list(store.ids())
  for row in rows:
    assert set(row) == {"image_id", "caption", "words", "box_index", "boxes", "log_prob"}
    boxes = store.get(row["image_id"]).boxes_px
    np.testing.assert_allclose(row["boxes"], boxes[row["box_index"]], rtol=1e-4)


def test_captions_do_not_depend_on_who_shares_a_batch(tmp_path, run):
  store = store_formats.open_store(write_store(tmp_path / "store"))
  config = decode_config.DecodeConfig("beam", min_length=2, max_length=5)
  together = list(region_captioning.caption_store(run, store, config))
  alone = list(region_captioning.caption_store(run, store, config, images=1))
  assert [row["caption"] for row in together] == [row["caption"] for row in alone]
  assert [row["box_index"] for row in together] == [row["box_index"] for row in alone]


def test_features_of_another_size_are_refused(tmp_path, run):
  store = store_formats.open_store(write_store(tmp_path / "store", size=3))
  with pytest.raises(errors.UserError, match=r"regions of 3 features.*trained on 4"):
    list(region_captioning.caption_store(run, store, decode_config.DecodeConfig()))


def test_the_feature_of_the_picture_may_have_a_size_of_its_own(tmp_path):
  words = vocabulary.Vocabulary.build([["a", "dog"]], "captioner", 1)
  sizes = {"vocabulary_size": words.size, "feature_size": 4, "global_size": 6}
  model = run_folders.make_model("captioner", "updown", {**small_runs.CAPTIONER_SIZES, **sizes})
  run = run_folders.Run(tmp_path, "captioner", "updown", model, words, {})
  folder = write_store(tmp_path / "store", counts=(3,))
  config = decode_config.DecodeConfig(max_length=3)
  with pytest.raises(errors.UserError, match=r"4 features of the whole picture.*trained on 6"):
    list(region_captioning.caption_store(run, store_formats.open_store(folder), config))
  np.save(folder / "fc" / "0.npy", np.ones(6, np.float32))
  assert (
    len(list(region_captioning.caption_store(run, store_formats.open_store(folder), config))) == 1
  )


@pytest.mark.parametrize("is_mean", [True, False])
def test_a_store_without_a_feature_of_the_picture_gives_the_mean_only_if_the_run_says_so(
  tmp_path, is_mean
):
  words = vocabulary.Vocabulary.build([["a", "dog"]], "captioner", 1)
  sizes = {"vocabulary_size": words.size, "feature_size": 4, "global_size": 4}
  options = {**small_runs.CAPTIONER_SIZES, **sizes, "global_is_mean": is_mean}
  model = run_folders.make_model("captioner", "updown", options)
  run = run_folders.Run(tmp_path, "captioner", "updown", model, words, {})
  folder = write_store(tmp_path / "store", counts=(3,))
  files.remove(folder / "fc")
  store = store_formats.open_store(folder)
  found = store.get("0")
  if is_mean:
    batch = region_captioning.region_batch(run, store, ["0"], [found])
    np.testing.assert_allclose(batch["global_feature"][0], found.features.mean(0), rtol=1e-6)
  else:
    with pytest.raises(errors.UserError, match=r"no features of the whole picture.*trained on 4"):
      region_captioning.region_batch(run, store, ["0"], [found])


@pytest.fixture
def label_run(tmp_path):
  labels = ("dog", "man", "bike")
  words = vocabulary.Vocabulary.build([["a", "dog", "sees", "men"]], "captioner", 1, labels)
  sizes = {"vocabulary_size": words.size, "feature_size": 0, "num_labels": 3, "label_size": 6}
  model = run_folders.make_model("captioner", "updown", {**small_runs.CAPTIONER_SIZES, **sizes})
  run_folders.save(tmp_path / "run", "captioner", "updown", model, words)
  return run_folders.load(tmp_path / "run")


def caption_labels(tmp_path, run, names):
  """The rows for one picture with a region for each name."""
  rows = [
    {"image_id": 3, "bbox": [10 * n, 0, 10, 20], "label": name} for n, name in enumerate(names)
  ]
  value = {"images": [{"id": 3, "width": 100, "height": 50}], "annotations": rows}
  files.write_json(tmp_path / "detections.json", value)
  store = detection_files.DetectionStore(tmp_path / "detections.json")
  config = decode_config.DecodeConfig(min_length=2, max_length=5)
  return list(region_captioning.caption_store(run, store, config))


def test_labels_are_mapped_for_the_model_and_returned_as_given(tmp_path, label_run):
  (row,) = caption_labels(tmp_path, label_run, ["Puppy", "bicycle", "men"])
  (same,) = caption_labels(tmp_path, label_run, ["dog", "bike", "man"])
  assert row["caption"] == same["caption"] and row["log_prob"] == same["log_prob"]
  labels = {0: "Puppy", 1: "bicycle", 2: "men"}
  assert row["labels"] == [labels[index] for index in row["box_index"]]
  np.testing.assert_allclose(row["boxes"], [[10 * n, 0, 10 * n + 10, 20] for n in row["box_index"]])
  (unknown,) = caption_labels(tmp_path, label_run, ["sofa", "sofa", "sofa"])
  assert unknown["log_prob"] != same["log_prob"], "labels have no influence"


def test_regions_without_labels_are_refused_where_the_run_reads_labels(tmp_path, label_run):
  class Bare(detection_files.DetectionStore):
    def _read(self, image_id):
      return dataclasses.replace(super()._read(image_id), labels=())

  files.write_json(tmp_path / "d.json", [{"image_id": 1, "bbox": [0, 0, 5, 5], "label": "dog"}])
  with pytest.raises(errors.UserError, match="regions without labels"):
    list(
      region_captioning.caption_store(
        label_run, Bare(tmp_path / "d.json"), decode_config.DecodeConfig()
      )
    )
