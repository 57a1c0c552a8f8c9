import json

import numpy as np

from serving.wire import answers


def outputs():
  return {
    "caption": np.array([b"a dog", b""], object),
    "words": np.array([[b"a", b"dog", b""], [b"", b"", b""]], object),
    "box_index": np.array([[0, 1, -1], [-1, -1, -1]], np.int32),
    "grounded": np.array([[False, True, False], [False] * 3]),
    "box": np.full((2, 3, 4), 0.25, np.float32),
    "attention": np.full((2, 3, 4), 0.25, np.float32),
    "log_prob": np.array([-1.5, 0.0], np.float32),
    "length": np.array([2, 0], np.int32),
  }


PHOTOGRAPH = {
  "word_score": np.array([[0.0, 0.4, 0.0], [0.0] * 3], np.float32),
  "score": np.array([0.4, 0.0], np.float32),
  "answered": np.array([True, False]),
  "error": np.array([b"", b"not a picture"], object),
  "num_regions": np.array([3, 0], np.int32),
  "region_boxes": np.zeros((2, 4, 4), np.float32),
  "region_labels": np.array([[b"dog", b"", b"man", b""], [b""] * 4], object),
  "region_scores": np.full((2, 4), 0.5, np.float32),
  "image_size": np.array([[640, 480], [0, 0]], np.int32),
}


def test_answer_of_regions_has_no_scores_and_every_grounded_word_points():
  answer = answers.read(outputs(), 0, 3)
  assert answer.words == ("a", "dog")
  assert answer.attention.shape == (2, 3)
  assert answer.word_scores is None and answer.answered and answer.seen is None
  assert answer.pointing().tolist() == [False, True]
  assert set(answer.to_json()) == {
    *("caption", "words", "box_index", "grounded", "boxes", "log_prob", "answered")
  }


def test_answer_of_a_photograph_has_its_regions_and_unsure_words_do_not_point():
  answer = answers.read(outputs() | PHOTOGRAPH, 0, None)
  assert answer.attention.shape == (2, 3)
  assert answer.seen.labels == ("dog", "", "man")
  assert answer.pointing(0.5).tolist() == [False, False]
  assert answer.pointing(0.3).tolist() == [False, True]
  row = json.loads(json.dumps(answer.to_json()))
  assert row["image_size"] == [640, 480]
  assert row["word_score"] == [0.0, 0.4]
  assert row["score"] == 0.4
  assert row["regions"][2] == {"box": [0.0] * 4, "label": "man", "score": 0.5}


def test_unreadable_picture_has_its_problem():
  answer = answers.read(outputs() | PHOTOGRAPH, 1, None)
  assert not answer.answered
  assert answer.to_json()["error"] == "not a picture"
  assert answer.words == () and answer.seen.labels == ()


def test_unknown_labels_are_listed_once():
  unknown = np.array([[b"zebra", b"", b"zebra", b"gnu"], [b""] * 4], object)
  found = [answers.read(outputs() | {"unknown_labels": unknown}, row, 4) for row in range(2)]
  assert [answer.unknown_labels for answer in found] == [("zebra", "gnu"), ()]
  assert found[0].to_json()["unknown_labels"] == ["zebra", "gnu"]
  assert "unknown_labels" not in found[1].to_json()
