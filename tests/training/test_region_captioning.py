"""Tests of gcap_tf/training/region_captioning.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import stores
from gcap_tf.decoding import config as decode_config
from gcap_tf.text import vocabulary
from gcap_tf.training import region_captioning, runs
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
  model = runs.make_model("captioner", "updown", options)
  runs.save(tmp_path / "run", "captioner", "updown", model, words)
  return runs.load(tmp_path / "run")


def test_rows_name_the_region_and_the_box_of_each_word(tmp_path, run):
  store = stores.open_store(write_store(tmp_path / "store"))
  config = decode_config.DecodeConfig(min_length=2, max_length=5)
  rows = list(region_captioning.caption_store(run, store, config))
  assert [row["image_id"] for row in rows] == list(store.ids())
  for row in rows:
    assert set(row) == {"image_id", "caption", "words", "box_index", "boxes", "log_prob"}
    boxes = store.get(row["image_id"]).boxes_px
    np.testing.assert_allclose(row["boxes"], boxes[row["box_index"]], rtol=1e-4)


def test_captions_do_not_depend_on_who_shares_a_batch(tmp_path, run):
  store = stores.open_store(write_store(tmp_path / "store"))
  config = decode_config.DecodeConfig("beam", min_length=2, max_length=5)
  together = list(region_captioning.caption_store(run, store, config))
  alone = list(region_captioning.caption_store(run, store, config, images=1))
  assert [row["caption"] for row in together] == [row["caption"] for row in alone]
  assert [row["box_index"] for row in together] == [row["box_index"] for row in alone]


def test_features_of_another_size_are_refused(tmp_path, run):
  store = stores.open_store(write_store(tmp_path / "store", size=3))
  with pytest.raises(errors.UserError, match=r"regions of 3 features.*trained on 4"):
    list(region_captioning.caption_store(run, store, decode_config.DecodeConfig()))
