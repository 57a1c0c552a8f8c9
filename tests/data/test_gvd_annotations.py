import json

import pytest

from gcap_tf import errors
from gcap_tf.data import gvd_annotations
from tests.data import make_videos


def test_entries_have_the_names_of_the_distributed_files(tmp_path):
  found = gvd_annotations.read(make_videos.write_prepared(tmp_path))
  assert found.classes == make_videos.CLASSES
  expected = make_videos.annotation()["annotations"]["v_bb"]
  entry = found.videos["training"]["v_bb"]
  assert entry["duration"] == expected["duration"]
  for key in ("tokens", "frame_ind", "process_clss", "process_idx", "timestamps"):
    assert entry["segments"]["0"][key] == expected["segments"]["0"][key]


def test_a_folder_needs_both_files(tmp_path):
  assert not gvd_annotations.is_here(tmp_path)
  assert gvd_annotations.is_here(make_videos.write_prepared(tmp_path))


def test_a_segment_without_a_caption_is_named(tmp_path):
  folder = make_videos.write_prepared(tmp_path)
  (folder / gvd_annotations.WORDS).write_text(json.dumps({"v_aa": {"segments": {}}}))
  with pytest.raises(errors.UserError, match="no segment 0 of video v_aa"):
    gvd_annotations.read(folder)


def test_an_id_without_its_segment_is_named(tmp_path):
  path = tmp_path / gvd_annotations.LIST
  path.write_text(json.dumps({"videos": [{"id": "v_aa", "split": "training"}]}))
  with pytest.raises(errors.UserError, match="segment 0: id 'v_aa'; expected VIDEO_segment_NN"):
    gvd_annotations.segment_ids(path)
