"""Tests of gcap_tf/evaluation/validation_pictures.py.

What a trained run shows is in test_matching.py and test_captioning.py of training/methods.
"""

import types

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.evaluation import captioner_evaluation, validation_pictures
from gcap_tf.runs import run_folders
from gcap_tf.visuals import ink
from tests.training import small_runs


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  return small_runs.data(tmp_path_factory.mktemp("pictures"), train=6)


def test_a_matcher_is_judged_and_drawn_on_the_first_captions(data, tmp_path):
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("matcher", "scan", {**small_runs.MATCHER_SIZES, **sizes})
  attention = validation_pictures.MatcherAttention(model, vocabulary, data.split("val"))
  assert attention.draw() == {}
  assert {"attention_f1", "attention_accuracy"} <= attention.score().keys()
  writer = tf.summary.create_file_writer(str(tmp_path / "tensorboard"))
  with writer.as_default(step=1):
    shown = attention.draw()
  writer.close()
  assert "attention/pr_curves" in small_runs.summaries(tmp_path)
  assert len(shown) == validation_pictures.SHOWN + 1 and "attention_pr_curve" in shown
  first = shown[f"attention/{data.split('val').image_ids[0]}"]
  # The outline of the winning box is in the picture.
  assert (first.reshape(-1, 3) == ink.palette(0)).all(-1).any()


def test_without_data_or_attention_a_matcher_shows_nothing(data):
  vocabulary = data.build_vocabulary("matcher", 1)
  model = types.SimpleNamespace(attends=False)
  for split in (None, data.split("val")):
    attention = validation_pictures.MatcherAttention(model, vocabulary, split)
    assert attention.score() == {} == attention.draw()


def test_a_panel_for_every_word_marks_the_box_that_wins(data):
  split = data.split("val")
  record = split.record(0)
  weights = np.zeros([2, 1, record.regions.count], np.float32)
  weights[:, 0, 1] = 1.0
  answer = captioner_evaluation.Answer(
    record.image_id, ("a", "cat"), np.array([1, 1]), np.zeros([2, 4]), (100.0, 50.0), 0.0, weights
  )
  (shown,) = validation_pictures.draw_answers([answer], split).values()
  assert shown.dtype == np.uint8
  x1, y1, x2, y2 = record.regions.boxes_px[1] / np.array([100, 50, 100, 50])
  # Panels of 240 x 180 with 26 pixels for the word above, 14 pixels of paper around.
  box = np.rint([14 + x1 * 239, 40 + y1 * 179, 14 + x2 * 239, 40 + y2 * 179]).astype(int)
  for shift in (0, 240 + 14):  # Both words.
    edge = shown[(box[1] + box[3]) // 2, box[0] + shift - 2 : box[0] + shift + 5]
    assert (edge == ink.palette(0)).all(-1).any()


def test_nothing_is_drawn_without_boxes_or_words(tmp_path):
  split = small_runs.data(tmp_path, train=2, val=1, boxes=False).split("val")
  record = split.record(0)
  silent = captioner_evaluation.Answer(
    record.image_id, (), np.zeros(0), np.zeros([0, 4]), (100.0, 50.0), 0.0, np.zeros([0, 1, 4])
  )
  assert validation_pictures.draw_answers([silent], split) == {}
  assert record.image_id in validation_pictures.caption_table([silent], split)
