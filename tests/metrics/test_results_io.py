import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import records, reference_files
from gcap_tf.metrics import results_io

GOOD_CAPTION = {
  "tokens": ["a", "dog"],
  "process_idx": [1],
  "process_clss": ["dog"],
  "process_bnd_box": [[0, 1, 2, 3.5]],
}
GOOD_PREDICTION = {"clss": ["dog"], "idx_in_sent": [1], "bbox": [[0, 1, 2, 3]]}


def test_a_written_submission_reads_back_and_has_the_official_keys(tmp_path):
  boxes = np.arange(12, dtype=np.float32).reshape(3, 4)
  caption = results_io.predicted_caption([None, "dog", "ball"], boxes)
  assert (caption.classes, caption.indices) == (("dog", "ball"), (1, 2))
  path = tmp_path / "s.json"
  results_io.write_submission(path, {"7": [caption], "8": [results_io.predicted_caption([], [])]})
  value = json.loads(path.read_text())
  assert value["results"]["7"][0] == {
    "clss": ["dog", "ball"],
    "idx_in_sent": [1, 2],
    "bbox": [[4, 5, 6, 7], [8, 9, 10, 11]],
  }
  assert value["eval_mode"] == "gen"
  assert value["external_data"] == {"used": False, "details": ""}
  submission = results_io.read_submission(path)
  assert submission.eval_mode == "gen"
  np.testing.assert_array_equal(submission.results["7"][0].boxes_px, boxes[1:])
  assert submission.results["8"][0].boxes_px.shape == (0, 4)


def test_references_of_a_prepared_file_are_those_of_its_records():
  word = records.ObjectWord(1, "dog", np.array([0, 1, 2, 3], np.float32))
  record = records.Record(
    "7",
    "test",
    10,
    10,
    (
      records.Caption("7#0", "a dog", ("a", "dog"), objects=(word,)),
      records.Caption("7#1", "nothing", ("nothing",)),
    ),
  )
  value = {"annotations": [reference_files.reference_row(record)]}
  (read,) = results_io.read_references("r.json", value)
  assert read.image_id == "7"
  assert read.captions[0].classes == ("dog",)
  assert read.captions[0].indices == (1,)
  assert read.captions[0].tokens == ("a", "dog")
  assert read.captions[0].boxes_px.tolist() == [[0, 1, 2, 3]]
  assert read.captions[1].boxes_px.shape == (0, 4)


def test_whole_number_ids_become_strings():
  value = {"annotations": [{"image_id": 42, "captions": [GOOD_CAPTION]}]}
  assert results_io.read_references("r.json", value)[0].image_id == "42"


@pytest.mark.parametrize(
  "change, message",
  [
    ({"process_idx": [1, 1]}, "lists differ in length"),
    ({"process_clss": None}, '"process_clss" is NoneType, expected list'),
    ({"process_bnd_box": [[0, 1, 2]]}, '"process_bnd_box" must list boxes of four'),
    ({"process_bnd_box": [[0, 1, 2, "3"]]}, '"process_bnd_box" must list boxes of four'),
    ({"process_bnd_box": [[0, 1, 2, float("nan")]]}, "four finite numbers"),
    ({"process_idx": ["1"]}, '"process_idx" must list whole numbers'),
    ({"tokens": ["a", 3]}, '"tokens" must list strings'),
  ],
)
def test_broken_references_name_file_image_caption_and_key(change, message):
  value = {"annotations": [{"image_id": 42, "captions": [GOOD_CAPTION, GOOD_CAPTION | change]}]}
  with pytest.raises(errors.UserError, match=r"r\.json, image 42, caption 1: .*") as error:
    results_io.read_references("r.json", value)
  assert message in str(error.value)


def test_a_word_annotated_twice_is_refused():
  caption = {
    "tokens": ["a", "dog"],
    "process_idx": [1, 1],
    "process_clss": ["dog", "dog"],
    "process_bnd_box": [[0, 1, 2, 3]] * 2,
  }
  with pytest.raises(errors.UserError, match="names a word twice"):
    results_io.read_references("r.json", {"annotations": [{"image_id": 1, "captions": [caption]}]})


@pytest.mark.parametrize(
  "value, message",
  [
    ([], 's.json: no key "results"'),
    ({"results": []}, '"results" is list, expected dict'),
    ({"results": {"7": []}}, "image 7: expected a list of at least one caption"),
    ({"results": {"7": [{}]}}, 'image 7, caption 0: no key "clss"'),
    ({"results": {"7": [GOOD_PREDICTION | {"clss": []}]}}, "clss 0, idx_in_sent 1, bbox 1"),
    ({"results": {"7": [GOOD_PREDICTION]}, "eval_mode": "gt"}, 'eval_mode is "gt"'),
  ],
)
def test_broken_submissions_name_file_image_and_key(value, message):
  with pytest.raises(errors.UserError) as error:
    results_io.read_submission("s.json", value)
  assert message in str(error.value)


def test_split_ids_are_strings_and_unknown_splits_name_the_known(tmp_path):
  path = tmp_path / "splits.json"
  path.write_text(json.dumps({"val": [1, "2"], "test": ["3"]}))
  assert results_io.read_split_ids(path, "val") == {"1", "2"}
  assert results_io.read_split_ids(path, "val,test") == {"1", "2", "3"}
  with pytest.raises(errors.UserError, match='no split "dev"; known: val, test'):
    results_io.read_split_ids(path, "dev")
