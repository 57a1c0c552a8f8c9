import json

import numpy as np
import pytest
from PIL import Image

from gcap_tf import answers, errors
from tests.vision import picture_files


def outputs(**more):
  """Two pictures with 3 slots and 2 regions; the second picture is damaged."""
  box = np.array([[0.0, 0.0, 0.5, 1.0], [0.5, 0.0, 1.0, 0.5]], np.float32)
  return {
    "caption": np.array([b"a dog", b""], object),
    "words": np.array([[b"a", b"dog", b""], [b""] * 3], object),
    "box_index": np.array([[0, 1, -1], [-1] * 3]),
    "grounded": np.array([[False, True, False], [False] * 3]),
    "box": np.array([[box[0], box[1], 0 * box[0]], [0 * box[0]] * 3]),
    "attention": np.array([[[0.6, 0.4], [0.1, 0.9], [0, 0]], np.zeros([3, 2])]),
    "log_prob": np.array([-2.5, 0.0], np.float32),
    "length": np.array([2, 0]),
    "region_boxes": np.array([box, 0 * box]),
    "region_labels": np.array([[b"man", b"dog"], [b"", b""]], object),
    "region_colours": np.array([[b"red", b"brown"], [b"", b""]], object),
    "region_scores": np.array([[0.9, 0.5], [0, 0]], np.float32),
    "num_regions": np.array([2, 0]),
    "image_size": np.array([[48, 32], [0, 0]]),
    "error": np.array([b"", b"not a picture"], object),
    **more,
  }


def first(**more):
  picture = picture_files.encoded(picture_files.photograph(), "PNG")
  return answers.from_outputs(outputs(**more), 0, "7", picture)


def test_words_know_their_boxes_and_regions_their_labels():
  answer = first()
  a, dog = answer.words
  assert (a.text, a.box, a.grounded, a.box_index) == ("a", None, False, 0)
  assert (dog.text, dog.box, dog.score) == ("dog", (0.5, 0.0, 1.0, 0.5), None)
  assert answer.answered and answer.caption == "a dog" and answer.log_prob == -2.5
  assert [region.label for region in answer.regions] == ["man", "dog"]
  assert answer.regions[1].colour == "brown" and answer.attention.shape == (2, 2)


def test_scores_and_no_answers_are_kept_if_the_captioner_gives_them():
  scores = np.array([[0.0, 0.75, 0.0], [0.0] * 3])
  answer = first(word_score=scores, answered=np.array([False, False]), score=np.array([0.5, 0.0]))
  assert [word.score for word in answer.words] == [None, 0.75] and not answer.answered
  assert answer.score == 0.5 and first().score is None


def test_a_row_has_pixels_and_is_json():
  row = json.loads(first().to_json())
  assert row["image_id"] == "7" and row["words"] == ["a", "dog"] and row["box_index"] == [0, 1]
  assert row["boxes"] == [[0, 0, 24, 32], [24, 0, 48, 16]] and row["labels"] == ["man", "dog"]
  assert row["regions"][0]["box"] == [0, 0, 24, 32] and "error" not in row


def test_an_answer_draws_itself(tmp_path):
  image = first().draw(tmp_path / "out.png")
  assert Image.open(tmp_path / "out.png").size == image.size and image.width >= 480
  scored = first(word_score=np.array([[0.0, 0.75, 0.0], [0.0] * 3])).draw()
  assert scored.tobytes() != image.tobytes(), "the score is not in the drawing"
  first().draw(tmp_path / "out.jpg")
  assert Image.open(tmp_path / "out.jpg").format == "JPEG"


def test_a_damaged_picture_has_no_answer_and_no_drawing():
  answer = answers.from_outputs(outputs(), 1)
  assert not answer.answered and answer.words == () and answer.regions == ()
  assert answer.row()["error"] == "not a picture"
  with pytest.raises(errors.UserError, match="nothing to draw: not a picture"):
    answer.draw()
