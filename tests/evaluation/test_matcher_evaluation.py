"""Tests of gcap_tf/evaluation/matcher_evaluation.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.evaluation import matcher_evaluation
from gcap_tf.runs import run_folders
from tests.training import small_runs


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  return small_runs.data(tmp_path_factory.mktemp("data"), captions=(1, 2, 3))


@pytest.fixture(scope="module")
def vocabulary(data):
  return data.build_vocabulary("matcher", 1)


@pytest.fixture(scope="module")
def model(data, vocabulary):
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  return run_folders.make_model("matcher", "scan", {**small_runs.MATCHER_SIZES, **sizes})


def one(record, caption, vocabulary):
  """A batch of one picture and one of its captions, made by hand."""
  ids = vocabulary.encode(caption.tokens)
  regions = record.regions
  return {
    "features": tf.constant(regions.features)[tf.newaxis],
    "boxes": tf.zeros([1, regions.count, 4]),
    "region_mask": tf.ones([1, regions.count], tf.bool),
    "tokens": tf.constant([ids]),
    "token_mask": tf.ones([1, len(ids)], tf.bool),
    "noun_mask": tf.zeros([1, len(ids)], tf.bool),
  }


def test_attention_is_that_of_each_caption_on_its_own_picture(data, vocabulary, model):
  split = data.split("val")
  rows = matcher_evaluation.matched_attention(model, vocabulary, split)
  expected = []
  for position in range(len(split)):
    record = split.record(position)
    for caption in record.captions:
      batch = one(record, caption, vocabulary)
      weights = model.attention(model.encode_images(batch), model.encode_captions(batch))
      expected.append(weights[0, 1:-1].numpy())
  assert len(rows) == len(expected) == len(split.words)
  for row, wanted in zip(rows, expected, strict=True):
    np.testing.assert_allclose(row, wanted, atol=1e-5)


def test_every_picture_and_caption_is_encoded_once(data, vocabulary, model):
  split = data.split("val")
  encoded = matcher_evaluation.encode_split(model, vocabulary, split)
  assert len(encoded.images["regions"]) == len(split)
  assert len(encoded.captions) == len(split.words)
  np.testing.assert_array_equal(encoded.image_of_caption, split.caption_pictures)


def test_regions_of_another_size_are_refused(data, vocabulary):
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": 3}
  other = run_folders.make_model("matcher", "scan", {**small_runs.MATCHER_SIZES, **sizes})
  with pytest.raises(errors.UserError, match=r"regions of 8 features.*trained on 3"):
    matcher_evaluation.encode_split(other, vocabulary, data.split("val"))


def test_another_number_of_captions_is_reported(capsys):
  matcher_evaluation.warn_unless_five_captions(np.array([5, 5]), "here")
  assert capsys.readouterr().out == ""
  matcher_evaluation.warn_unless_five_captions(np.array([5, 4]), "here")
  assert "here: 4 to 5 captions per picture, not 5" in capsys.readouterr().out
