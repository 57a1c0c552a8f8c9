"""Tests of gcap_tf/training/pictures.py: what TensorBoard finds in a trained run."""

import io
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from gcap_tf.training import captioner_evaluation, captioner_training, matcher_training, pictures
from gcap_tf.visuals import ink
from tests.training import small_runs


def events(run: pathlib.Path) -> dict[str, list[tf.compat.v1.Summary.Value]]:
  """Summaries of a run's event files by tag, in the order of steps."""
  found: dict[str, list] = {}
  for path in sorted((run / "tensorboard").iterdir()):
    for event in tf.compat.v1.train.summary_iterator(str(path)):
      for value in event.summary.value:
        found.setdefault(value.tag, []).append(value)
  return found


def image(value) -> np.ndarray:
  width, height, *encoded = value.tensor.string_val
  picture = Image.open(io.BytesIO(encoded[0]))
  assert picture.size == (int(width), int(height))
  return np.asarray(picture)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
  return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def data(folder):
  return small_runs.data(folder, train=6)


def test_a_matcher_shows_attention_its_pr_curve_and_its_options(folder, data):
  figures = matcher_training.train(data, small_runs.matcher_config(), folder / "scan")
  assert {"attention_f1", "attention_accuracy"} <= figures.keys()
  found = events(folder / "scan")
  shown = [tag for tag in found if tag.startswith("attention/")]
  assert len(shown) == pictures.SHOWN
  # The outline of the winning box is in the picture.
  colors = image(found[shown[0]][0]).reshape(-1, 3)
  assert (colors == ink.palette(0)).all(-1).any()
  assert image(found["attention_pr_curve"][0]).shape == (560, 720, 3)
  assert {"training/loss", "validation/rsum", "validation/attention_f1"} <= found.keys()
  assert "_hparams_/session_start_info" in found


def test_a_captioner_shows_attention_per_word_and_sample_captions(folder, data):
  captioner_training.train(data, small_runs.captioner_config(epochs=2), folder / "updown")
  found = events(folder / "updown")
  text = found["captions"][-1].tensor.string_val[0].decode()
  first = data.split("val").record(0)
  assert f"| {first.image_id} |" in text
  assert " ".join(first.captions[0].tokens) in text
  assert len(found["captions"]) == 2  # One for each validation.
  assert {"training/cross_entropy", "validation/cider"} <= found.keys()
  assert "_hparams_/session_start_info" in found


def test_a_panel_for_every_word_marks_the_box_that_wins(data):
  split = data.split("val")
  record = split.record(0)
  weights = np.zeros([2, 1, record.regions.count], np.float32)
  weights[:, 0, 1] = 1.0
  answer = captioner_evaluation.Answer(
    record.image_id, ("a", "cat"), np.array([1, 1]), np.zeros([2, 4]), (100.0, 50.0), 0.0, weights
  )
  (shown,) = pictures.of_answers([answer], split).values()
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
  assert pictures.of_answers([silent], split) == {}
  assert record.image_id in pictures.samples([silent], split)
