import json
import os
import pathlib
import pickle

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import validation
from gcap_tf.data.readers import activitynet
from tests.data import make_videos


def changed(folder, change):
  value = make_videos.annotation()
  change(value["annotations"]["v_aa"]["segments"]["0"])
  return activitynet.ActivityNetEntities(make_videos.write(folder, value))


@pytest.fixture
def reader(tmp_path):
  return activitynet.ActivityNetEntities(make_videos.write(tmp_path))


def test_segments_are_in_the_order_of_their_numbers(reader):
  assert reader.splits == ("train", "val")
  assert list(reader.image_ids("val")) == ["v_cc_segment_00", "v_cc_segment_01"]
  assert len(reader.image_ids("train")) == 4


def test_a_segment_has_its_times_and_its_place_in_the_video(reader):
  segment = reader.record("v_bb_segment_00", "train").segment
  assert (segment.video, segment.name, segment.frames) == ("v_bb", "0", 10)
  np.testing.assert_allclose(segment.position, [0, 2, 0.0, 6 / 20])


def test_words_keep_their_case_and_empty_ones_are_left_out(reader):
  record = reader.record("v_aa_segment_00", "train")
  assert record.captions[0].tokens == ("A", "man", "walks", "his", "dog")
  assert record.segment.dropped == (2,)
  assert [record.segment.distributed_index(n) for n in range(5)] == [0, 1, 3, 4, 5]


def test_a_box_carries_several_words_and_a_word_several_boxes(reader):
  man, he, dog = reader.record("v_aa_segment_00", "train").captions[0].objects
  assert [(w.index, w.name) for w in (man, he, dog)] == [(1, "man"), (3, "he"), (4, "dog")]
  assert [(box.frame, box.number) for box in man.frame_boxes] == [(2, 0), (7, 2)]
  assert he.frame_boxes[0].number == 0 and dog.frame_boxes[0].crowd


def test_classes_are_those_of_the_file(reader):
  assert reader.classes.names == make_videos.CLASSES


def test_every_record_is_sound_and_the_reader_pickles(reader):
  reader = pickle.loads(pickle.dumps(reader))
  found = list(reader.read(progress=False))
  assert len(found) == 6
  for record in found:
    validation.check_record(record, "made")


def test_prepared_files_of_gvd_give_the_same_records(reader, tmp_path):
  other = activitynet.ActivityNetEntities(make_videos.write_prepared(tmp_path / "gvd"))
  assert other.splits == reader.splits and other.classes.names == reader.classes.names
  for image_id in reader.image_ids("train"):
    mine, theirs = reader.record(image_id, "train"), other.record(image_id, "train")
    assert mine.segment == theirs.segment
    assert mine.captions[0].tokens == theirs.captions[0].tokens
    names = [[(w.index, w.name) for w in r.captions[0].objects] for r in (mine, theirs)]
    assert names[0] == names[1]


def test_prepared_files_without_times_make_the_segment_its_video(tmp_path):
  folder = make_videos.write_prepared(tmp_path, times=False)
  segment = activitynet.ActivityNetEntities(folder).record("v_aa_segment_01", "train").segment
  assert segment.duration == 0


def test_a_truncated_file_is_named(tmp_path):
  folder = make_videos.write(tmp_path)
  path = folder / "anet_entities_cleaned_class_thresh50_trainval.json"
  path.write_text(path.read_text()[:200])
  with pytest.raises(errors.UserError, match=r"trainval\.json is not valid JSON"):
    activitynet.ActivityNetEntities(folder).image_ids("train")


def test_a_segment_past_the_end_of_its_video_is_refused(tmp_path):
  reader = changed(tmp_path, lambda segment: segment.update(timestamps=[3, 99]))
  with pytest.raises(errors.UserError, match="v_aa, segment 0 lasts from 3 to 99 s, its video 20"):
    reader.record("v_aa_segment_00", "train")


def test_a_box_in_frame_eleven_is_refused(tmp_path):
  reader = changed(tmp_path, lambda segment: segment.update(frame_ind=[2, 11, 7]))
  with pytest.raises(errors.UserError, match="box 1 is in frame 11; expected frames 0 to 9"):
    reader.record("v_aa_segment_00", "train")


@pytest.mark.parametrize(
  ("entry", "message"),
  [
    ({"process_idx": [[1, 9], [5], [1]]}, "box 0 is of word 9"),
    ({"process_idx": [[1], [5], [1]]}, "expected one word a class"),
    ({"process_bnd_box": [[1, 2], [3, 4], [5, 6]]}, "expected x1, y1, x2, y2"),
    ({"process_clss": [["man"]]}, "lists of one length"),
    ({"tokens": "a man"}, '"tokens" must list words'),
    ({"timestamps": [1]}, "expected seconds, and two"),
  ],
)
def test_a_damaged_segment_is_one_line(tmp_path, entry, message):
  reader = changed(tmp_path, lambda segment: segment.update(entry))
  with pytest.raises(errors.UserError, match=message) as error:
    reader.record("v_aa_segment_00", "train")
  assert "\n" not in str(error.value)


def test_a_folder_without_the_files_is_refused(tmp_path):
  with pytest.raises(errors.UserError, match=r"cap_anet_trainval\.json there"):
    activitynet.ActivityNetEntities(tmp_path)


def test_videos_of_the_list_that_the_annotation_lacks_are_left_out(tmp_path):
  folder = make_videos.write(tmp_path)
  path = folder / "split_ids_anet_entities.json"
  path.write_text(json.dumps({"training": ["v_aa", "v_zz"], "validation": []}))
  assert len(activitynet.ActivityNetEntities(folder).image_ids("train")) == 2


def test_the_real_skeletons_are_read_whole():
  if "GCAP_DATA" not in os.environ:
    pytest.skip("GCAP_DATA does not name the folder of the datasets")
  folder = pathlib.Path(os.environ["GCAP_DATA"]) / "activitynet_entities"
  reader = activitynet.ActivityNetEntities(folder)
  assert reader.splits == ("test", "hidden_test") and len(reader.classes.names) == 431
  found = [reader.record(image_id, "test") for image_id in reader.image_ids("test")]
  assert len(found) == 8731
  assert len({record.segment.video for record in found}) == 2457
  assert sum(len(record.segment.dropped) for record in found) == 52
  hidden = [reader.record(image_id, "hidden_test") for image_id in reader.image_ids("hidden_test")]
  assert len(hidden) == 4955 and not any(record.captions for record in hidden)
