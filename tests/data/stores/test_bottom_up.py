import base64
import json
import os
import pickle

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.stores import bottom_up


def encoded(rows):
  return base64.b64encode(np.asarray(rows, "<f4").tobytes())


def line(image_id, boxes, features, width=100, height=50, count=None):
  count = len(boxes) if count is None else count
  head = f"{image_id}\t{width}\t{height}\t{count}\t".encode()
  return head + encoded(boxes) + b"\t" + encoded(features) + b"\n"


BOXES = np.array([[0, 0, 10, 20], [5, 5, 99, 49]], np.float32)
FEATURES = np.arange(6, dtype=np.float32).reshape(2, 3)


def store(folder, *lines):
  (folder / "a.tsv").write_bytes(b"".join(lines))
  return bottom_up.BottomUpStore(folder / "a.tsv")


def test_lines_are_read_by_picture(tmp_path):
  opened = store(tmp_path, line("8", BOXES[:1], FEATURES[:1] + 9), line("7", BOXES, FEATURES))
  assert opened.ids() == ["8", "7"] and opened.size("7") == (100, 50)
  regions = opened.get("7")
  np.testing.assert_array_equal(regions.boxes_px, BOXES)
  np.testing.assert_array_equal(regions.features, FEATURES)
  assert opened.get("8").features.tolist() == [[9, 10, 11]]


def test_a_last_line_without_end_is_read(tmp_path):
  opened = store(tmp_path, line("8", BOXES, FEATURES), line("7", BOXES, FEATURES).rstrip())
  np.testing.assert_array_equal(opened.get("7").features, FEATURES)


def test_a_header_is_skipped(tmp_path):
  opened = store(tmp_path, "\t".join(bottom_up.FIELDS).encode() + b"\n", line("7", BOXES, FEATURES))
  assert opened.ids() == ["7"]


def test_several_files_are_one_store_and_the_first_of_twins_counts(tmp_path):
  (tmp_path / "b.tsv.0").write_bytes(line("7", BOXES, FEATURES))
  (tmp_path / "b.tsv.1").write_bytes(line("7", BOXES, FEATURES + 1) + line("8", BOXES, FEATURES))
  opened = bottom_up.BottomUpStore(tmp_path)
  assert opened.ids() == ["7", "8"]
  np.testing.assert_array_equal(opened.get("7").features, FEATURES)


def test_the_index_is_kept_and_used_while_the_file_stays(tmp_path):
  opened = store(tmp_path, line("7", BOXES, FEATURES))
  opened.ids()
  sidecar = tmp_path / "a.tsv.index.json"
  saved = json.loads(sidecar.read_text())
  saved["lines"] = [["from the index", 0]]
  sidecar.write_text(json.dumps(saved))
  assert bottom_up.BottomUpStore(tmp_path).ids() == ["from the index"]
  os.utime(tmp_path / "a.tsv", ns=(1, 1))
  assert bottom_up.BottomUpStore(tmp_path).ids() == ["7"]


def test_a_broken_index_is_made_again(tmp_path):
  store(tmp_path, line("7", BOXES, FEATURES))
  (tmp_path / "a.tsv.index.json").write_text("[")
  assert bottom_up.BottomUpStore(tmp_path).ids() == ["7"]


def test_a_store_pickles(tmp_path):
  opened = store(tmp_path, line("7", BOXES, FEATURES))
  opened.get("7")
  np.testing.assert_array_equal(pickle.loads(pickle.dumps(opened)).get("7").boxes_px, BOXES)


def refused(folder, message, *lines):
  with pytest.raises(errors.UserError, match=message):
    store(folder, *lines).get("7")


def test_a_file_cut_in_the_middle_of_a_line_is_named(tmp_path):
  whole = line("7", BOXES, FEATURES)
  first = line("6", BOXES, FEATURES)
  refused(tmp_path, rf"a\.tsv, byte {len(first)}, picture 7: .*cut short", first, whole[:-4])
  refused(tmp_path, "5 fields; expected 6", whole.rsplit(b"\t", 1)[0])


def test_a_count_that_does_not_match_is_named(tmp_path):
  refused(tmp_path, "32 bytes of boxes for 3 boxes", line("7", BOXES, FEATURES, count=3))
  refused(tmp_path, "num_boxes is 'x'", line("7", BOXES, FEATURES, count="x"))


def test_nan_features_and_bad_boxes_are_named(tmp_path):
  refused(tmp_path, "feature 1 is not a finite number", line("7", BOXES, [[1, 2], [3, np.nan]]))
  refused(tmp_path, "box of region 0 has no area", line("7", [[5, 5, 5, 9]], [[1]]))
  refused(tmp_path, "outside the picture of 100 x 50", line("7", [[5, 5, 300, 9]], [[1]]))


def test_a_line_without_id_is_named(tmp_path):
  refused(tmp_path, r"a\.tsv, line 1: no picture id", b"not a table\n")


def test_a_folder_without_tsv_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match=r"no \.tsv file"):
    bottom_up.BottomUpStore(tmp_path)
