"""Tests of gcap_tf/evaluation/precomp_evaluation.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.evaluation import precomp_evaluation
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary
from tests.training import small_runs

SENTENCES = [
  "A dog runs .", "Two men sit.", "A red ball!", "Dogs and men", "A man's dog",
  "Men run", "The ball is red", "Two dogs sit .", "A man sees a dog", "A ball",
]  # fmt: skip
WORDS = [["a", "dog", "runs", ".", "two", "men", "sit", "red", "ball", "dogs", "man", "the"]]
FEATURES = np.random.default_rng(2).normal(size=(2, 3, 4)).astype(np.float32)


def write_folder(folder, repeat=1):
  folder.mkdir()
  np.save(folder / "test_ims.npy", np.repeat(FEATURES, repeat, axis=0))
  (folder / "test_caps.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
  return folder


def make_run(folder, name="scan", **extra):
  words = vocabulary.Vocabulary.build(WORDS, "matcher", 1)
  options = {**small_runs.MATCHER_SIZES, "vocabulary_size": words.size, "feature_size": 4}
  model = run_folders.make_model("matcher", name, options)
  run_folders.save(folder, "matcher", name, model, words, {"tokenizer": "treebank", **extra})
  return run_folders.load(folder)


def pair_by_pair(run, ids):
  """Similarities with one picture and one caption at a time."""
  similarity = np.zeros([len(FEATURES), len(ids)])
  for i, features in enumerate(FEATURES):
    for j, sentence in enumerate(ids):
      batch = {
        "features": tf.constant(features)[tf.newaxis],
        "boxes": tf.zeros([1, 3, 4]),
        "region_mask": tf.ones([1, 3], tf.bool),
        "tokens": tf.constant([sentence]),
        "token_mask": tf.ones([1, len(sentence)], tf.bool),
        "noun_mask": tf.zeros([1, len(sentence)], tf.bool),
      }
      images, captions = run.model.encode_images(batch), run.model.encode_captions(batch)
      similarity[i, j] = run.model.similarity(images, captions)[0, 0]
  return similarity


def test_similarities_are_those_of_single_pairs(tmp_path):
  run = make_run(tmp_path / "run")
  folder = write_folder(tmp_path / "data")
  figures, similarity = precomp_evaluation.evaluate_runs([tmp_path / "run"], folder, "test")
  tokens = [
    ["a", "dog", "runs", "."], ["two", "men", "sit", "."], ["a", "red", "ball", "!"],
    ["dogs", "and", "men"], ["a", "man", "'s", "dog"], ["men", "run"],
    ["the", "ball", "is", "red"], ["two", "dogs", "sit", "."], ["a", "man", "sees", "a", "dog"],
    ["a", "ball"],
  ]  # fmt: skip
  expected = pair_by_pair(run, [run.vocabulary.encode(words) for words in tokens])
  np.testing.assert_allclose(similarity, expected, atol=1e-5)
  assert 0 <= figures["rsum"] <= 600


def test_rows_repeated_for_each_caption_are_one_picture(tmp_path):
  make_run(tmp_path / "run")
  once = precomp_evaluation.evaluate_runs(
    [tmp_path / "run"], write_folder(tmp_path / "once"), "test"
  )[1]
  five = precomp_evaluation.evaluate_runs(
    [tmp_path / "run"], write_folder(tmp_path / "five", repeat=5), "test"
  )[1]
  np.testing.assert_allclose(once, five, atol=1e-6)


def test_bfan_reads_word_ids_as_they_are(tmp_path):
  run = make_run(tmp_path / "run", "bfan")
  folder = write_folder(tmp_path / "data")
  ids = [[1, 4, 5, 2], [1, 8, 2], [4, 6]] + [[1, 4, 2]] * 7
  lines = [",".join(map(str, row)) for row in ids]
  (folder / "test_precaps.txt").write_text("\n".join(lines) + "\n")
  _, similarity = precomp_evaluation.evaluate_runs([tmp_path / "run"], folder, "test")
  np.testing.assert_allclose(similarity, pair_by_pair(run, ids), atol=1e-5)
  (folder / "test_precaps.txt").write_text("\n".join([*lines[:9], "1,999,2"]) + "\n")
  with pytest.raises(errors.UserError, match=r"test_precaps\.txt, line 10"):
    precomp_evaluation.evaluate_runs([tmp_path / "run"], folder, "test")


def test_a_missing_split_and_other_features_are_named(tmp_path):
  make_run(tmp_path / "run")
  folder = write_folder(tmp_path / "data")
  with pytest.raises(errors.UserError, match=r"dev_ims\.npy does not exist"):
    precomp_evaluation.evaluate_runs([tmp_path / "run"], folder, "dev")
  np.save(folder / "test_ims.npy", FEATURES[..., :3])
  with pytest.raises(errors.UserError, match=r"regions of 3 features.*trained on 4"):
    precomp_evaluation.evaluate_runs([tmp_path / "run"], folder, "test")
