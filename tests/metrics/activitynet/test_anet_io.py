import copy

import pytest

from gcap_tf import errors
from gcap_tf.metrics.activitynet import anet_io

SEGMENT = {
  "tokens": ["A", "man", "and", "dog"],
  "frame_ind": [2],
  "process_bnd_box": [[0, 1, 2, 3]],
  "process_idx": [[1, 3]],
  "process_clss": [["man", "dog"]],
}
PREDICTION = {"clss": ["man"], "idx_in_sent": [1], "bbox_for_all_frames": [[[0, 1, 2, 3]] * 10]}


def references(**changes):
  return {"annotations": {"v_1": {"segments": {"0": copy.deepcopy(SEGMENT) | changes}}}}


def test_references_and_submissions_are_read():
  segment = anet_io.read_references("r", references())["v_1"]["0"]
  assert segment.indices == ((1, 3),) and segment.classes == (("man", "dog"),)
  assert segment.frames.tolist() == [2]
  value = {"results": {"v_1": {"0": PREDICTION}}, "eval_mode": "GT"}
  results, mode = anet_io.read_submission("s", value)
  assert mode == "GT"
  assert results["v_1"]["0"].boxes_px.shape == (1, 10, 4)


def test_a_segment_whose_boxes_are_hidden_counts_as_not_annotated():
  value = references(frame_ind=[], process_bnd_box=[])
  segment = anet_io.read_references("r", value)["v_1"]["0"]
  assert segment.indices == () and len(segment.boxes_px) == 0


def test_the_schema_differs_from_that_of_pictures():
  assert anet_io.is_video(references())
  assert not anet_io.is_video({"annotations": []})


@pytest.mark.parametrize(
  "change, message",
  [
    ({"frame_ind": [1, 2]}, "lists differ in length"),
    ({"process_idx": [1]}, '"process_idx" must hold a list of int for each box'),
    ({"process_clss": [["man"]]}, "differ in length for a box"),
  ],
)
def test_broken_references_name_file_video_segment_and_key(change, message):
  with pytest.raises(errors.UserError) as error:
    anet_io.read_references("r.json", references(**change))
  assert str(error.value).startswith("references r.json, video v_1, segment 0: ")
  assert message in str(error.value)


def test_a_box_in_each_of_ten_frames_is_needed():
  value = {"results": {"v_1": {"0": PREDICTION | {"bbox_for_all_frames": [[[0, 1, 2, 3]] * 9]}}}}
  with pytest.raises(errors.UserError, match=r"video v_1, segment 0: .* must list 10 boxes"):
    anet_io.read_submission("s.json", value)
  with pytest.raises(errors.UserError, match="video v_1: expected segments by name"):
    anet_io.read_submission("s.json", {"results": {"v_1": []}})
