import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import batch, box_geometry

SIZES = {"R": 3, "D": 2, "G": 2, "T": 5}


def _picture(count, image_id=b"a"):
  features = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
  boxes = np.full([count, 4], 0.5, np.float32)
  return batch.region_row(count, image_id=image_id, features=features, boxes=boxes)


def test_a_batch_has_the_entries_of_its_parts():
  regions, captions = batch.names(["regions"]), batch.names(["captions"])
  assert "features" in regions and "tokens" not in regions
  assert "tokens" in captions and "features" not in captions
  assert {"image_id", "example_mask"} <= set(regions) & set(captions)
  assert "target_regions" not in regions + captions
  assert set(batch.names(["regions", "captions"])) == {*regions, *captions, "target_regions"}


def test_optional_entries_come_only_if_they_are_named():
  assert "grid_features" not in batch.names(["regions"])
  assert "grid_features" in batch.names(["regions"], ["grid_features"])
  assert "grid_features" not in batch.names(["captions"], ["grid_features"])


def test_a_wrong_part_or_optional_entry_is_refused():
  with pytest.raises(ValueError, match="choose from regions, captions"):
    batch.names(["pictures"])
  with pytest.raises(ValueError, match="boxes: not an optional entry"):
    batch.names(["regions"], ["boxes"])


def test_rows_are_padded_to_the_largest():
  rows = [_picture(1), _picture(3, b"b")]
  built = batch.build(rows, batch.names(["regions"]), SIZES)
  assert built["features"].tolist() == [[[0, 1], [0, 0], [0, 0]], [[0, 1], [2, 3], [4, 5]]]
  assert built["region_mask"].tolist() == [[True, False, False], [True, True, True]]
  assert built["boxes"][0, 1:].sum() == 0 and built["image_id"].tolist() == [b"a", b"b"]
  assert built["example_mask"].tolist() == [True, True]
  assert built["image_size"].tolist() == [[1, 1], [1, 1]]


def test_the_global_feature_is_the_mean_unless_it_is_given():
  given = batch.region_row(2, features=np.ones([2, 2], np.float32), global_feature=np.full(2, 7))
  rows = [_picture(2), _picture(0), given]
  built = batch.build(rows, ["global_feature"], SIZES)
  assert built["global_feature"].tolist() == [[1, 2], [0, 0], [7, 7]]


def test_padded_position_blocks_point_at_no_block():
  row = batch.region_row(1, position_blocks=np.ones([1, 30], np.float32))
  blocks = batch.build([row], ["position_blocks"], SIZES)["position_blocks"][0]
  assert (blocks[0] == 1).all()
  assert (blocks[1:, :15] == box_geometry.PFAN_PAD).all() and (blocks[1:, 15:] == 0).all()


WANTED = ["tokens", "token_mask", "noun_mask", "caption_id"]


def test_words_of_a_captioner_begin_at_the_first_slot_and_end_with_0():
  row = {"tokens": np.array([5, 6]), "noun_mask": np.array([False, True]), "caption_id": b"c"}
  built = batch.build_captions([row], WANTED, SIZES)
  assert built["tokens"].tolist() == [[5, 6, 0, 0, 0]]
  assert built["token_mask"].tolist() == [[True, True, True, False, False]]
  assert built["noun_mask"].tolist() == [[False, True, False, False, False]]
  assert built["caption_id"].tolist() == [b"c"]


def test_words_of_a_matcher_stand_between_start_and_end():
  attention = np.array([[0.25, 0.75], [1, 0]], np.float32)
  row = {"tokens": np.array([5, 6]), "noun_mask": np.array([True, False])}
  row["teacher_attention"] = attention
  built = batch.build_captions([row], [*WANTED, "teacher_attention"], SIZES, start=1, end=2)
  assert built["tokens"].tolist() == [[1, 5, 6, 2, 0]]
  assert built["token_mask"].tolist() == [[True, True, True, True, False]]
  assert built["noun_mask"].tolist() == [[False, True, False, False, False]]
  assert built["teacher_attention"][0, :, 0].tolist() == [0, 0.25, 1, 0, 0]
  assert built["teacher_attention"].shape == (1, 5, 3)


@pytest.mark.parametrize("name", batch.ENTRIES)
def test_padding_has_the_shape_and_type_of_the_specification(name):
  sizes = {"I": 2, "B": 4, "R": 3, "D": 5, "G": 6, "C": 7, "M": 8, "T": 9}
  rows = [{}] * sizes[batch.ENTRIES[name].shape[0]]
  tensor = batch.tensors(batch.build(rows, [name], sizes))[name]
  assert batch.spec(name, sizes).is_compatible_with(tensor)
  assert batch.spec(name, sizes).shape.is_fully_defined()
  completed = batch.complete({}, [name], sizes)[name]
  assert completed.dtype == tensor.dtype
  np.testing.assert_array_equal(completed, tensor)


def test_an_axis_of_unknown_size_is_none_in_a_specification():
  assert batch.spec("features", {"D": 4}).shape.as_list() == [None, None, 4]


def test_a_graph_keeps_given_tensors_and_adds_the_others():
  boxes = tf.ones([1, 3, 4])
  completed = batch.complete({"boxes": boxes}, ["boxes", "frame"], {"I": 1, "R": tf.constant(3)})
  assert completed["boxes"] is boxes
  assert completed["frame"].numpy().tolist() == [[0, 0, 0]]


def test_the_batch_needs_no_tensorflow():
  code = "import sys; import gcap_tf.batch; print('tensorflow' in sys.modules)"
  done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
  assert re.search("False", done.stdout)
