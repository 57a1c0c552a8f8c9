import pickle

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.stores import gvd_video_store, store_formats
from tests.data import make_videos


@pytest.fixture
def store(tmp_path):
  return gvd_video_store.GVDVideoStore(make_videos.write_store(tmp_path))


def test_the_format_is_recognised(tmp_path):
  make_videos.write_store(tmp_path)
  assert isinstance(store_formats.open_store(tmp_path), gvd_video_store.GVDVideoStore)


def test_weak_proposals_are_left_out_and_others_know_their_frame(store):
  regions = store.get("v_aa_segment_00")
  assert regions.count == 20
  np.testing.assert_array_equal(regions.frame, np.repeat(np.arange(10), 2))
  stored = np.load(store.features / "v_aa_segment_00.npy")
  np.testing.assert_array_equal(regions.features, stored[:, :2].reshape(20, -1))
  np.testing.assert_array_equal(regions.boxes_px[4], [10, 20, 110, 220])


def test_frames_have_appearance_and_motion(store):
  frames, count = store.frame_features("v_bb_segment_01")
  assert frames.shape == (7, make_videos.APPEARANCE + make_videos.MOTION) and count == 7
  motion = np.load(store.frames / "bb_bn.npy")
  np.testing.assert_array_equal(frames[:, make_videos.APPEARANCE :], motion)


def test_at_most_480_frames_are_kept(store):
  frames, count = store.frame_features("v_cc_segment_00")
  assert (len(frames), count) == (480, 500)


def test_the_span_of_a_segment_is_rounded_as_in_the_released_loader():
  segment = records.Segment("v", "1", start=10.0, end=20.0, duration=30.0)
  assert gvd_video_store.span(segment, 100) == (33, 67)
  assert gvd_video_store.span(segment, 1000) == (333, 480)
  assert gvd_video_store.span(records.Segment("v", "1"), 100) == (0, 100)


def test_missing_files_are_named(store):
  (store.features / "v_aa_segment_01.npy").unlink()
  (store.frames / "cc_bn.npy").unlink()
  found = store.missing([image_id for image_id, _ in make_videos.segments()])
  assert {key: value.rpartition("/")[2] for key, value in found.items()} == {
    "v_aa_segment_01": "v_aa_segment_01.npy",
    "v_cc_segment_00": "cc_bn.npy",
    "v_cc_segment_01": "cc_bn.npy",
  }
  assert "v_zz_segment_00" in store.missing(["v_zz_segment_00"])


def test_a_damaged_file_is_one_line(store):
  path = store.features / "v_aa_segment_00.npy"
  path.write_bytes(path.read_bytes()[:40])
  with pytest.raises(errors.UserError, match=r"v_aa_segment_00\.npy is not a whole \.npy"):
    store.get("v_aa_segment_00")


def test_frames_without_their_motion_are_refused(store):
  np.save(store.frames / "aa_bn.npy", np.zeros([3, 2], np.float32))
  with pytest.raises(errors.UserError, match="expected one row a frame in both"):
    store.frame_features("v_aa_segment_00")


def test_a_store_pickles(store):
  store.get("v_aa_segment_00")
  assert pickle.loads(pickle.dumps(store)).get("v_bb_segment_00").count == 20


def test_a_folder_without_features_is_refused(tmp_path):
  make_videos.write_store(tmp_path)
  for path in (tmp_path / "fc6").iterdir():
    path.unlink()
  with pytest.raises(errors.UserError, match="no folder of"):
    gvd_video_store.GVDVideoStore(tmp_path)
