"""Tests of gcap_tf/evaluation/captioner_evaluation.py."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.runs import run_folders
from gcap_tf.text import object_words
from tests.training import small_runs


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  return small_runs.data(tmp_path_factory.mktemp("data"), val=4)


@pytest.fixture(scope="module")
def vocabulary(data):
  return data.build_vocabulary("captioner", 1)


def made(data, vocabulary, **options):
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  return run_folders.make_model(
    "captioner", "updown", {**small_runs.CAPTIONER_SIZES, **sizes, **options}
  )


@pytest.fixture(scope="module")
def model(data, vocabulary):
  return made(data, vocabulary)


def test_every_picture_gets_a_caption_whose_words_have_boxes_of_regions(data, vocabulary, model):
  split = data.split("val")
  config = decode_config.DecodeConfig(max_length=6, min_length=3)
  answers = captioner_evaluation.caption_split(model, vocabulary, split, config, images=2)
  assert [answer.image_id for answer in answers] == list(split.image_ids)
  for position, answer in enumerate(answers):
    regions = split.record(position).regions.boxes_px
    assert 3 <= len(answer.words) <= 6 and answer.caption == " ".join(answer.words)
    assert answer.attention.shape == (len(answer.words), 1, len(regions))
    np.testing.assert_allclose(answer.boxes_px, regions[answer.box_index], atol=1e-3)


def test_only_object_words_are_predictions():
  answer = captioner_evaluation.Answer(
    "7",
    ("a", "cat", "sees", "two", "dogs"),
    np.arange(5),
    np.tile(np.float32([0.1, 0.2, 0.5, 0.6]), (5, 1)),
    (100.0, 50.0),
    -1.0,
    np.zeros([5, 1, 5]),
  )
  classes = object_words.ObjectClasses(["cat", "dog"])
  (predicted,) = captioner_evaluation.generated_predictions([answer], classes)["7"]
  assert predicted.classes == ("cat", "dog") and predicted.indices == (1, 4)
  np.testing.assert_allclose(predicted.boxes_px, [[10, 10, 50, 30]] * 2, atol=1e-4)


def test_given_sentences_look_where_the_attention_is_largest(data, vocabulary, model):
  split = data.split("val")
  predictions = captioner_evaluation.given_predictions(model, vocabulary, split, images=3)
  for position in range(len(split)):
    record = split.record(position)
    scale = np.array([record.width, record.height] * 2)
    batch = {
      "features": tf.constant(record.regions.features)[tf.newaxis],
      "boxes": tf.constant(record.regions.boxes_px / scale, tf.float32)[tf.newaxis],
      "region_mask": tf.ones([1, record.regions.count], tf.bool),
      "region_labels": tf.zeros([1, record.regions.count], tf.int32),
      "global_feature": tf.constant(record.regions.features.mean(0))[tf.newaxis],
    }
    tokens = np.zeros([len(record.captions), 12], np.int32)
    for row, caption in zip(tokens, record.captions, strict=True):
      row[: len(caption.tokens)] = vocabulary.encode(caption.tokens)
    given = model.teacher_force(model.encode(batch), tf.constant(tokens))["attention"][:, :, 0]
    found = zip(record.captions, predictions[record.image_id], given.numpy(), strict=True)
    for caption, predicted, attention in found:
      assert predicted.indices == tuple(word.index for word in caption.objects)
      picks = [attention[word.index].argmax() for word in caption.objects]
      np.testing.assert_allclose(predicted.boxes_px, record.regions.boxes_px[picks], atol=1e-3)


def test_regions_of_another_kind_are_refused(data, vocabulary):
  with pytest.raises(errors.UserError, match=r"regions of 8 features.*trained on 3"):
    captioner_evaluation.check_regions(made(data, vocabulary, feature_size=3), data.split("val"))


def test_gvd_and_its_kin_and_readers_of_labels_do_not_say_unk():
  sizes = {"vocabulary_size": 9, "feature_size": 4, **small_runs.CAPTIONER_SIZES}
  rules = {
    name: captioner_evaluation.usual_decoding(
      run_folders.make_model("captioner", name, sizes)
    ).unknown
    for name in ("updown", "distributed")
  }
  assert rules == {"updown": "allow", "distributed": "second_best"}
  labelled = run_folders.make_model(
    "captioner", "updown", sizes | {"feature_size": 0, "num_labels": 2}
  )
  assert captioner_evaluation.usual_decoding(labelled).unknown == "suppress"
