import dataclasses

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import records, validation
from tests.data import make_records

BOX = np.array([1, 2, 30, 20], np.float32)
CAPTION = records.Caption(
  "7#0",
  "A clown rests .",
  ("a", "clown", "rests"),
  tags=("DET", "NOUN", "VERB"),
  phrases=(records.Phrase(0, 2, "1", ("people",), BOX[None]),),
  objects=(records.ObjectWord(1, "clown", BOX),),
)
REGIONS = records.Regions(
  boxes_px=np.stack([BOX, BOX + 1]),
  features=np.ones((2, 3), np.float32),
  labels=("clown", ""),
  scores=np.array([0.9, 0.1], np.float32),
  global_feature=np.ones(4, np.float32),
)
RECORD = records.Record(
  "7", "train", 40, 30, (CAPTION,), REGIONS, (records.AnnotatedObject("clown", BOX, "1"),)
)


def refused(message, **changes):
  with pytest.raises(errors.UserError, match=message):
    validation.check_record(dataclasses.replace(RECORD, **changes), "made")


def refused_caption(message, **changes):
  refused(message, captions=(dataclasses.replace(CAPTION, **changes),))


def refused_regions(message, **changes):
  refused(message, regions=dataclasses.replace(REGIONS, **changes))


def test_a_whole_record_passes():
  validation.check_record(RECORD, "made")


def test_a_record_without_regions_boxes_or_size_passes():
  bare = records.Record("7", "train", 0, 0, (records.Caption("1", "snow", ("snow",)),))
  validation.check_record(bare, "made")


def test_no_regions_at_all_pass():
  none = records.Regions(boxes_px=np.zeros((0, 4), np.float32))
  validation.check_regions(none, "made", 40, 30)


def test_a_picture_needs_id_split_size_and_caption():
  refused("without id", image_id="")
  refused("picture 7: no split", split="")
  refused("size 40 x 0", height=0)
  refused("no caption", captions=())
  refused("'7#0' is used twice", captions=(CAPTION, CAPTION))


def test_tokens_must_be_lower_case_words():
  refused_caption("caption 7#0: no words", tokens=())
  for token in ("", "A", "a b"):
    refused_caption("token", tokens=("a", token, "rests"))


def test_tags_must_match_the_words():
  refused_caption("2 tags for 3 words", tags=("DET", "NOUN"))


def test_phrases_and_object_words_must_lie_in_the_caption():
  refused_caption("phrase 2:4", phrases=(records.Phrase(2, 4),))
  refused_caption("phrase 1:1", phrases=(records.Phrase(1, 1),))
  refused_caption("object words", objects=(records.ObjectWord(3, "clown", BOX),))
  words = records.ObjectWord(1, "clown", BOX), records.ObjectWord(1, "hat", BOX)
  refused_caption("each word once", objects=words)


@pytest.mark.parametrize(
  ("box", "message"),
  [
    ((5, 5, 5, 9), "has no area"),
    ((9, 5, 3, 9), "has no area"),
    ((5, 5, 60, 9), "outside the picture of 40 x 30 pixels"),
    ((-9, 5, 6, 9), "outside the picture"),
    ((5, np.nan, 6, 9), "not a finite number"),
  ],
)
def test_annotated_boxes_must_lie_in_the_picture(box, message):
  bad = np.array(box, np.float32)
  refused(message, annotated=(records.AnnotatedObject("clown", bad),))
  refused_caption(message, objects=(records.ObjectWord(1, "clown", bad),))
  refused_caption(message, phrases=(records.Phrase(0, 2, "1", (), bad[None]),))


def test_a_box_may_reach_one_pixel_over_the_edge():
  edge = np.array([0, 0, 41, 31], np.float32)
  validation.check_boxes(edge[None], "made", 40, 30)
  with pytest.raises(errors.UserError, match="outside"):
    validation.check_boxes(edge[None] + 0.5, "made", 40, 30)


def test_without_a_size_only_the_upper_left_edge_is_known():
  validation.check_boxes(np.array([[0, 0, 9000, 9000]], np.float32), "made")
  with pytest.raises(errors.UserError, match="outside the picture"):
    validation.check_boxes(np.array([[-5, 0, 9, 9]], np.float32), "made")


def test_regions_must_agree_in_number():
  refused_regions("2 boxes, 3 features", features=np.ones((3, 3), np.float32))
  refused_regions("1 labels", labels=("clown",))
  refused_regions("1 scores", scores=np.ones(1, np.float32))


def test_features_must_be_finite_rows():
  bad = np.ones((2, 3), np.float32)
  bad[1, 2] = np.nan
  refused_regions("picture 7: feature 1 is not a finite number", features=bad)
  refused_regions("global feature 0 is not", global_feature=np.array([np.inf], np.float32))
  refused_regions("score 1 is not", scores=np.array([1, np.nan], np.float32))
  refused_regions(r"shape \[2, 3, 1\]", features=np.ones((2, 3, 1), np.float32))
  refused_regions(r"global feature of shape", global_feature=np.ones((1, 4), np.float32))


def test_large_finite_features_pass():
  # Their float32 sum overflows, each of them does not.
  large = np.full((2, 3), 3e38, np.float32)
  validation.check_regions(dataclasses.replace(REGIONS, features=large), "made", 40, 30)


def test_boxes_need_four_columns():
  refused_regions(r"shape \[2, 5\]", boxes_px=np.ones((2, 5), np.float32))


def _segment_of(record, frame):
  box = records.FrameBox(frame, np.array([0, 0, 30, 1500], np.float32))
  word = dataclasses.replace(record.captions[0].objects[0], frame_boxes=(box,))
  caption = dataclasses.replace(record.captions[0], objects=(word,))
  segment = records.Segment("v_a", "0", end=5.0, duration=9.0)
  return dataclasses.replace(record, captions=(caption,), segment=segment)


def test_boxes_of_a_video_lie_in_its_frames():
  record = make_records.make_records(1)[0]
  validation.check_record(_segment_of(record, 9), "made")
  with pytest.raises(errors.UserError, match="is in frame 10; expected 0 to 9"):
    validation.check_record(_segment_of(record, 10), "made")


def test_a_segment_may_lack_a_caption_and_not_start_after_its_video():
  record = _segment_of(make_records.make_records(1)[0], 0)
  validation.check_record(dataclasses.replace(record, captions=()), "made")
  late = dataclasses.replace(record.segment, start=10.0)
  with pytest.raises(errors.UserError, match="it starts at 10 s, its video ends at 9 s"):
    validation.check_record(dataclasses.replace(record, segment=late), "made")
